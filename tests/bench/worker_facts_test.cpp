#include "bench/worker/protocol.hpp"

#include "collectives/endpoints/endpoint.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::worker_facts_test {
namespace {

TEST(WorkerFacts, AreReadAsTheyWereWritten) {
  const WorkerFacts written{.torch = {{"version", "2.6.0"}, {"cudnn", "9.10.2"}},
                            .mpi = "Open MPI v4.1.4",
                            .nccl = "2.28.3",
                            .gpu_training = {false, "there is no NVIDIA driver", "install one"}};
  const WorkerFacts read = parse_worker_facts(to_json(written));
  EXPECT_EQ(read.torch, written.torch);
  EXPECT_EQ(read.mpi, written.mpi);
  EXPECT_EQ(read.nccl, written.nccl);
  EXPECT_FALSE(read.gpu_training.available);
  EXPECT_EQ(read.gpu_training.reason, written.gpu_training.reason);
  EXPECT_EQ(read.gpu_training.cure, written.gpu_training.cure);
}

TEST(WorkerFacts, AreOneLine) {
  EXPECT_EQ(to_json(WorkerFacts{.torch = {{"version", "1\n2"}}}).find('\n'), std::string::npos);
}

TEST(WorkerFacts, OfThisProcessAreThoseOfItsLibraries) {
  const WorkerFacts own = own_facts();
  EXPECT_EQ(own.torch, torch_facts());
  EXPECT_EQ(own.gpu_training.available, gpu_training_availability().available);
  EXPECT_EQ(own.mpi.empty(), !mpi_availability().available);
}

TEST(WorkerFacts, ThatAreNoneAreRefused) {
  for (const char* text : {"", "{}", "[]", R"({"torch": 1})", R"({"torch":{},"mpi":"","nccl":"","gpu_training":{}})"})
    expect_error([&] { parse_worker_facts(text); }, ExitCode::internal, HasSubstr("hbench-worker"), testing::_);
}

}  // namespace
}  // namespace hbench::worker_facts_test
