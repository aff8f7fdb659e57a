// What models learn: the built-in series, files of others and damaged ones, and who takes which sample.

#include "workloads/data/dataset.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <map>
#include <set>

#include "collectives/base/file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::dataset_test {
namespace {

TEST(Mnist1d, HasSeriesOfTenDigitsWithMeanZeroAndVarianceOne) {
  const Dataset data = make_mnist1d();
  EXPECT_THAT(data.shape.sizes, ElementsAre(1, 1, 40));
  EXPECT_EQ(data.train.count(), 4000);
  EXPECT_EQ(data.test.count(), 1000);
  double sum = 0, squares = 0;
  std::map<int, int> classes;
  for (const LabelledSamples* each : {&data.train, &data.test}) {
    for (const float value : each->numbers) sum += value, squares += value * value;
    for (const std::uint8_t label : each->labels) ++classes[label];
  }
  EXPECT_NEAR(sum / 200'000, 0, 1e-4);
  EXPECT_NEAR(squares / 200'000, 1, 1e-3);
  EXPECT_EQ(classes.size(), 10U);
  for (const auto& [label, count] : classes) EXPECT_EQ(count, 500) << label;
}

TEST(Mnist1d, IsTheSameEachTime) {
  const Dataset first = make_mnist1d(), second = make_mnist1d();
  EXPECT_EQ(first.train.numbers, second.train.numbers);
  EXPECT_EQ(first.test.labels, second.test.labels);
}

/// The samples that each worker takes in an epoch.
std::vector<std::vector<std::int64_t>> dealt(std::int64_t samples, int workers, int batch, std::int64_t epoch) {
  std::vector<std::vector<std::int64_t>> all;
  for (int worker = 0; worker < workers; ++worker) {
    EpochOrder order(samples, workers, worker, batch, 3);
    std::vector<std::int64_t>& own = all.emplace_back();
    for (int i = 0; i < order.batches(); ++i) {
      const auto taken = order.batch(epoch * order.batches() + i);
      own.insert(own.end(), taken.begin(), taken.end());
    }
  }
  return all;
}

TEST(EpochOrder, DealsOutEachSampleOnce) {
  std::set<std::int64_t> seen;
  for (const auto& own : dealt(120, 4, 5, 0)) {
    EXPECT_EQ(own.size(), 30U);
    seen.insert(own.begin(), own.end());
  }
  EXPECT_EQ(seen.size(), 120U);
}

// 10 samples for 4 workers: three each, so that two of the first are dealt out again.
TEST(EpochOrder, DealsTheFirstOnesOutAgainWhereWorkersDoNotShareOutAll) {
  std::map<std::int64_t, int> count;
  for (const auto& own : dealt(10, 4, 1, 2)) {
    EXPECT_EQ(own.size(), 3U);
    for (const std::int64_t sample : own) ++count[sample];
  }
  EXPECT_EQ(count.size(), 10U);
  EXPECT_EQ(std::ranges::count_if(count, [](const auto& each) { return each.second == 2; }), 2);
}

TEST(EpochOrder, IsAnotherOneInEachEpochAndForEachSeed) {
  EXPECT_NE(dealt(100, 2, 10, 0), dealt(100, 2, 10, 1));
  EXPECT_EQ(dealt(100, 2, 10, 1), dealt(100, 2, 10, 1));
  EpochOrder one(100, 1, 0, 100, 1), other(100, 1, 0, 100, 2);
  const auto first = one.batch(0), second = other.batch(0);
  EXPECT_FALSE(std::ranges::equal(first, second));
}

TEST(EpochOrder, LeavesOutWhatFillsNoBatch) {
  EXPECT_EQ(EpochOrder(100, 2, 1, 15, 1).batches(), 3);
  expect_error([] { EpochOrder(10, 4, 0, 4, 1); }, ExitCode::usage,
               "10 samples are 3 for each of 4 ranks, and a batch is 4", "fewer ranks, or a smaller --batch");
}

std::string idx(std::vector<int> sizes, const std::string& bytes) {
  std::string text{0, 0, 8, static_cast<char>(sizes.size())};
  for (const int size : sizes) text += {0, 0, static_cast<char>(size >> 8), static_cast<char>(size & 255)};
  return text + bytes;
}

/// A folder with two pictures of 2 x 2 to train on, and one to be judged by.
class Folder : public testing::Test {
 protected:
  Folder() {
    write("train-images-idx3-ubyte", idx({2, 2, 2}, std::string{0, 10, 20, 30, 40, 50, 60, 70}));
    write("train-labels-idx1-ubyte", idx({2}, std::string{0, 2}));
    write("t10k-images-idx3-ubyte", idx({1, 2, 2}, std::string{1, 2, 3, 4}));
    write("t10k-labels-idx1-ubyte", idx({1}, std::string{1}));
  }
  void write(const std::string& name, const std::string& bytes) { write_bytes(folder_ / name, bytes); }
  void refused(const std::string& why) {
    expect_error([&] { load_dataset(folder_.path().string(), 0); }, ExitCode::usage, HasSubstr(why), testing::_);
  }
  TemporaryFolder folder_;
};

TEST_F(Folder, OfMnistsFilesIsRead) {
  const Dataset data = load_dataset(folder_.path().string(), 0);
  EXPECT_THAT(data.shape.sizes, ElementsAre(1, 2, 2));
  EXPECT_EQ(data.classes, 3);
  EXPECT_FLOAT_EQ(data.mean, 35);
  std::vector<float> sample(4);
  data.fill(data.train, 1, sample);
  EXPECT_FLOAT_EQ(sample[0], (40 - 35) / data.deviation);
  EXPECT_EQ(data.test.labels[0], 1);
  EXPECT_EQ(usual_model(folder_.path().string()), "lenet5");
}

TEST_F(Folder, WithPackedFilesIsRead) {
  const std::string file = (folder_ / "train-labels-idx1-ubyte").string();
  std::filesystem::remove(file);
  const gzFile packed = gzopen((file + ".gz").c_str(), "wb");
  const std::string bytes = idx({2}, std::string{0, 2});
  gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(packed);
  EXPECT_EQ(load_dataset(folder_.path().string(), 0).classes, 3);
  const std::string whole = read_file(file + ".gz");
  write_bytes(file + ".gz", whole.substr(0, whole.size() - 9));
  refused("its gzip data");
}

TEST_F(Folder, WithDamagedFilesIsRefusedByTheirNames) {
  write("train-images-idx3-ubyte", idx({2, 2, 2}, std::string{1, 2, 3}));
  refused("train-images-idx3-ubyte: it has 3 bytes after its head, which says 8");
  write("train-images-idx3-ubyte", "no pictures at all");
  refused("train-images-idx3-ubyte: it is no IDX file of bytes in 3 dimensions");
  write("train-images-idx3-ubyte", idx({1, 2, 2}, std::string{1, 2, 3, 4}));
  refused("train-labels-idx1-ubyte: it has 2 labels, and there are 1 pictures");
  std::filesystem::remove(folder_ / "train-images-idx3-ubyte");
  refused("has no train-images-idx3-ubyte");
}

TEST_F(Folder, WithALabelBeyondTheClassesIsRefused) {
  write("t10k-labels-idx1-ubyte", idx({1}, std::string{9}));
  refused("a sample to be judged by has the label 9, and those to train on have 3 classes");
}

TEST(Cifar, IsReadFromItsSixFiles) {
  const TemporaryFolder folder;
  const auto record = [](char label) {
    return std::string(1, label) + std::string(3072, static_cast<char>(label * 9));
  };
  for (int batch = 1; batch <= 5; ++batch)
    write_bytes(folder / fmt::format("data_batch_{}.bin", batch), record(static_cast<char>(batch)));
  write_bytes(folder / "test_batch.bin", record(3) + record(1));
  const Dataset data = load_dataset(folder.path().string(), 0);
  EXPECT_THAT(data.shape.sizes, ElementsAre(3, 32, 32));
  EXPECT_EQ(data.train.count(), 5);
  EXPECT_EQ(data.test.count(), 2);
  EXPECT_EQ(usual_model(folder.path().string()), "resnet18") << "LeNet-5 sees no colours";
  write_bytes(folder / "test_batch.bin", record(3).substr(1));
  expect_error([&] { load_dataset(folder.path().string(), 0); }, ExitCode::usage,
               HasSubstr("test_batch.bin: its 3072 bytes are no records of 3073"), testing::_);
}

TEST(DataSources, ThatThereAreNotAreRefused) {
  expect_error([] { load_dataset("mnist2d", 0); }, ExitCode::usage, HasSubstr("did you mean 'mnist1d'"), testing::_);
}

}  // namespace
}  // namespace hbench::dataset_test
