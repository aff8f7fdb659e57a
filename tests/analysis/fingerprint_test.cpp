#include "analysis/records/fingerprint.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace hbench::fingerprint_test {
namespace {

using Facts = std::map<std::string, std::string>;

Facts node() {
  return {{"cpu", "some CPU"},
          {"cores", "16"},
          {"memory", "64 GiB"},
          {"kernel", "Linux 6.1.0"},
          {"compiler", "g++ 12"},
          {"torch", "built in, 2.6.0+cpu"},
          {"mpi_library", "Open MPI v4.1.4, package: Debian"},
          {"gpu", "8 x NVIDIA H100"},
          {"gpu_driver", "580.65.06"},
          {"gpu_clocks", "SM 345 of 1980 MHz"},
          {"gpu_links", "18 NVLinks to NVSwitches"},
          {"gpu_power_limit", "700 W"},
          {"cuda", "13.0"},
          {"nccl", "2.28.3"},
          {"cudnn", "9.1.0"},
          {"gpu_settings", "NCCL_ALGO=Ring NCCL_DEBUG=INFO"}};
}

TEST(Fingerprint, SaysWhatMakesMachinesComparable) {
  EXPECT_EQ(fingerprint(node(), false).text, "16 cores of some CPU, LibTorch 2.6, Open MPI v4.1");
  EXPECT_EQ(fingerprint(node(), true).text,
            "16 cores of some CPU, LibTorch 2.6, Open MPI v4.1, 8 x NVIDIA H100, at most 700 W, 18 NVLinks to "
            "NVSwitches, driver 580, CUDA 13.0, NCCL 2.28, cuDNN 9.1, NCCL_ALGO=Ring");
  EXPECT_EQ(fingerprint({}, true).text, "? cores of an unknown processor");
}

TEST(Fingerprint, HasTheSameDigestForEver) {
  EXPECT_EQ(fingerprint({{"cpu", "some CPU"}, {"cores", "1"}}, false).text, "1 core of some CPU");
  EXPECT_EQ(fingerprint({{"cpu", "some CPU"}, {"cores", "1"}}, false).digest, "78b7f05eafe94e16");
}

TEST(Fingerprint, ChangesWithWhatChangesTimes) {
  const std::vector<std::function<void(Facts&)>> changes{
      [](Facts& f) { f["cpu"] = "other CPU"; }, [](Facts& f) { f["cores"] = "8"; },
      [](Facts& f) { f["torch"] = "built in, 2.7.0"; }, [](Facts& f) { f["mpi_library"] = "Open MPI v5.0.1"; },
      [](Facts& f) { f["settings"] = "UCX_TLS=tcp"; }};
  const std::vector<std::function<void(Facts&)>> gpu_changes{[](Facts& f) { f["gpu"] = "4 x NVIDIA H100"; },
                                                             [](Facts& f) { f["gpu_driver"] = "590.1"; },
                                                             [](Facts& f) { f["gpu_links"] = "PCIe 5.0 x16"; },
                                                             [](Facts& f) { f["gpu_power_limit"] = "500 W"; },
                                                             [](Facts& f) { f["cuda"] = "13.1"; },
                                                             [](Facts& f) { f["nccl"] = "2.29.1"; },
                                                             [](Facts& f) { f["cudnn"] = "9.2.0"; },
                                                             [](Facts& f) { f["gpu_settings"] = "NCCL_ALGO=Tree"; }};
  const auto same = [](const std::function<void(Facts&)>& change, bool on_gpu) {
    Facts facts = node();
    change(facts);
    return fingerprint(facts, on_gpu).digest == fingerprint(node(), on_gpu).digest;
  };
  for (std::size_t i = 0; i < changes.size(); ++i)
    for (const bool on_gpu : {false, true}) EXPECT_FALSE(same(changes[i], on_gpu)) << "change " << i;
  for (std::size_t i = 0; i < gpu_changes.size(); ++i) {
    EXPECT_FALSE(same(gpu_changes[i], true)) << "change " << i;
    EXPECT_TRUE(same(gpu_changes[i], false)) << "the cores are the same, change " << i;
  }
}

TEST(Fingerprint, StaysTheSameThroughUpdatesOfOneClass) {
  const std::vector<std::function<void(Facts&)>> changes{
      [](Facts& f) { f["kernel"] = "Linux 6.9.9"; },     [](Facts& f) { f["memory"] = "63 GiB"; },
      [](Facts& f) { f["torch"] = "built in, 2.6.1"; },  [](Facts& f) { f["mpi_library"] = "Open MPI v4.1.8"; },
      [](Facts& f) { f["gpu_driver"] = "580.95.05"; },   [](Facts& f) { f["nccl"] = "2.28.9"; },
      [](Facts& f) { f["gpu_clocks"] = "SM 1980 MHz"; }, [](Facts& f) { f["gpu_settings"] = "NCCL_ALGO=Ring"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Facts facts = node();
    changes[i](facts);
    EXPECT_EQ(fingerprint(facts, true).digest, fingerprint(node(), true).digest) << "change " << i;
  }
}

TEST(Fingerprint, LeavesOutALibraryThatIsAbsent) {
  EXPECT_EQ(
      fingerprint({{"cpu", "c"}, {"cores", "2"}, {"torch", "not available: not built in 2026"}, {"mpi_library", "MPI"}},
                  false)
          .text,
      "2 cores of c");
}

}  // namespace
}  // namespace hbench::fingerprint_test
