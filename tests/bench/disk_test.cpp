#include <fmt/format.h>

#include "bench/output/keeping.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::disk_test {
namespace {

constexpr const char* kSweep =
    "$HBENCH sweep --workload resnet50,vgg16 --profile hkbu-10gbe,aws-p3-25gbe --gpus 1..16 --evidence simulated "
    "--quiet ";
constexpr const char* kSmallSweep =
    "$HBENCH sweep --workload resnet50 --profile hkbu-10gbe --gpus 1..8 --evidence simulated --quiet ";

TEST(Report, ThatCannotBeWrittenIsSaidBeforeAnyWork) {
  const Workplace workplace;
  write_bytes(workplace / "in-the-way", "precious");
  for (const auto& [folder, why] : {std::pair{"in-the-way", "Not a directory"}, {"/proc/report", "No such file"}}) {
    const Outcome outcome = workplace.shell(std::string(kSweep) + "--report " + folder);
    expect_mistake(outcome, 3, fmt::format("cannot write the report into {}: {}", folder, why), "--report DIR");
  }
  EXPECT_EQ(bytes_of(workplace / "in-the-way"), "precious");
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench.db"));
}

TEST(Report, OfStoredResultsThatCannotBeWrittenIsSaid) {
  const Workplace workplace;
  ASSERT_EQ(workplace.shell(kSmallSweep).code, 0);
  for (const char* folder : {"hbench.db", "/proc/report"})
    expect_mistake(workplace.run({"report", "--report", folder}), 3, std::string("cannot write ") + folder, "folder");
}

TEST(Disk, WhereNothingCanBeWrittenIsAnErrorOfTheEnvironment) {
  const Workplace workplace;
  expect_mistake(workplace.shell(std::string(kSweep) + "--db /proc/r.db"), 3, "'/proc/r.db'", "permissions");
}

TEST(Disk, OnAReadOnlyDiskIsRefusedAndStillRead) {
  const Workplace workplace;
  if (!can_mount(workplace)) GTEST_SKIP() << "mounts in a namespace of one's own are not allowed here";
  ASSERT_EQ(
      workplace.shell("mkdir m && " + std::string(kSmallSweep) + "--db m/r.db && $HBENCH export --db m/r.db > before")
          .code,
      0);
  const Outcome outcome = workplace.shell(
      "unshare -rm sh -c 'mount --bind m m && mount -o remount,ro,bind m m && { $HBENCH export --db m/r.db > after; "
      "$HBENCH track freeze --db m/r.db > frozen; " +
      std::string(kSmallSweep) + "--db m/r.db; }'");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("m/r.db"));
  EXPECT_EQ(bytes_of(workplace / "after"), bytes_of(workplace / "before"));
  EXPECT_THAT(bytes_of(workplace / "frozen"), HasSubstr("Nothing is frozen"));
}

TEST(Disk, OnAFullDiskKeepsWhatItHasAndGoesOnWhenThereIsRoom) {
  const Workplace workplace;
  if (!can_mount(workplace)) GTEST_SKIP() << "mounts in a namespace of one's own are not allowed here";
  const Outcome outcome = workplace.shell(
      "mkdir m; unshare -rm sh -c 'mount -t tmpfs -o size=1m none m; " + std::string(kSmallSweep) +
      "--db m/r.db > first || exit 90; $HBENCH export --db m/r.db > before; "
      "dd if=/dev/zero of=m/ballast bs=4096 2> dd; " +
      std::string(kSweep) + "--db m/r.db > second 2> full; echo $? > code; $HBENCH export --db m/r.db > after; " +
      "rm m/ballast; mount -o remount,size=16m m; " + std::string(kSweep) +
      "--db m/r.db --resume > third || exit 91; $HBENCH export --db m/r.db > end'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(workplace / "code"), "3\n");
  EXPECT_THAT(bytes_of(workplace / "full"), HasSubstr("the disk is full"));
  const auto points = [&](const char* file) { return nlohmann::json::parse(bytes_of(workplace / file)); };
  EXPECT_FALSE(points("before").empty());
  EXPECT_EQ(points("before"), points("after"));
  EXPECT_GT(points("end").size(), points("before").size());
  for (const auto& point : points("before")) EXPECT_THAT(points("end"), Contains(point));
}

TEST(Keeping, GoesOnWhereTheDiskIsFullAndSaysSoInTheEnd) {
  Keeping keeping;
  int stored = 0;
  keeping.keep([&] { ++stored; });
  EXPECT_NO_THROW(keeping.finish());
  expect_error([&] { keeping.keep([] { throw Error(ExitCode::wrong_data, "damaged", "save it"); }); },
               ExitCode::wrong_data, HasSubstr("damaged"), HasSubstr("save it"));
  EXPECT_NO_THROW(keeping.keep([] { throw Error(ExitCode::environment, "the disk is full", "free some"); }));
  keeping.keep([&] { ++stored; });
  EXPECT_EQ(stored, 1);
  expect_error([&] { keeping.finish(); }, ExitCode::environment, HasSubstr("the disk is full"), HasSubstr("free some"));
}

TEST(StandardOutput, ThatIsFullIsAnErrorOfTheEnvironment) {
  const Workplace workplace;
  ASSERT_EQ(workplace.shell(kSmallSweep).code, 0);
  for (const std::string& arguments :
       {std::string("$HBENCH --help"), std::string("$HBENCH export"), std::string(kSmallSweep)}) {
    const Outcome outcome = workplace.shell(arguments + " > /dev/full");
    EXPECT_EQ(outcome.code, 3) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("No space left on device")) << arguments;
  }
}

}  // namespace
}  // namespace hbench::disk_test
