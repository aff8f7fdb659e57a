// Data in files: those of MNIST and of CIFAR-10, as their authors describe them.

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>

#include "collectives/base/error.hpp"
#include "workloads/data/dataset.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// More than the 184 MB of CIFAR-10, and less than a file that never ends.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Error damaged(const std::string& file, const std::string& why) {
  return Error(ExitCode::usage, fmt::format("{}: {}", file, why), "copy it again from where the data is published");
}

/// The bytes of a file, unpacked where it is one of gzip.
std::vector<std::uint8_t> unpacked(const std::string& file) {
  if (!fs::is_regular_file(file)) throw damaged(file, "it is no regular file");
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> opened(gzopen(file.c_str(), "rb"), gzclose);
  if (opened == nullptr) throw damaged(file, "it cannot be read");
  std::vector<std::uint8_t> bytes;
  for (int read = 1; read > 0;) {
    const std::size_t begin = bytes.size();
    if (begin > kMostBytes) throw damaged(file, "it has more than 1 GiB");
    bytes.resize(begin + (1 << 20));
    read = gzread(opened.get(), bytes.data() + begin, 1 << 20);
    if (read < 0) throw damaged(file, "its gzip data are damaged, or end too early");
    bytes.resize(begin + static_cast<std::size_t>(read));
  }
  // A packed file that was cut off ends without an error of its own.
  if (int status = Z_OK; (gzerror(opened.get(), &status), status != Z_OK && status != Z_STREAM_END))
    throw damaged(file, "its gzip data end too early");
  return bytes;
}

/// NAME in a folder, or NAME.gz.
std::string file_of(const std::string& folder, const std::string& name) {
  for (const char* end : {"", ".gz"})
    if (const fs::path file = fs::path(folder) / (name + end); fs::exists(file)) return file.string();
  throw Error(ExitCode::usage, fmt::format("{} has no {}", folder, name),
              "a folder of data has the four files of MNIST (train-images-idx3-ubyte ...), the six of CIFAR-10 "
              "(data_batch_1.bin ...), or pictures: train/CLASS/*.jpg and val/CLASS/*.jpg");
}

/// An array of bytes with `sizes` in its head: two zeros, 8 for bytes, the number of sizes, and each as 32 bits.
struct IdxArray {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> bytes;
};

IdxArray read_idx(const std::string& file, std::size_t dimensions) {
  IdxArray array{{}, unpacked(file)};
  const std::size_t head = 4 + 4 * dimensions;
  const auto at = [&](std::size_t i) { return std::int64_t{array.bytes[i]}; };
  if (array.bytes.size() < head || at(0) != 0 || at(1) != 0 || at(2) != 8 ||
      at(3) != static_cast<std::int64_t>(dimensions))
    throw damaged(file, fmt::format("it is no IDX file of bytes in {} dimensions", dimensions));
  std::int64_t all = 1;
  for (std::size_t i = 4; i < head; i += 4) {
    array.sizes.push_back(at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3));
    all *= std::clamp<std::int64_t>(array.sizes.back(), 0, 1 << 20);
    all = std::min<std::int64_t>(all, std::int64_t{1} << 40);
  }
  array.bytes.erase(array.bytes.begin(), array.bytes.begin() + static_cast<std::ptrdiff_t>(head));
  if (all == 0 || std::ssize(array.bytes) != all)
    throw damaged(file, fmt::format("it has {} bytes after its head, which says {}", array.bytes.size(), all));
  return array;
}

LabelledSamples read_pair(const std::string& folder, const std::string& prefix, SampleShape& shape) {
  const std::string pictures = file_of(folder, prefix + "-images-idx3-ubyte");
  const std::string labels = file_of(folder, prefix + "-labels-idx1-ubyte");
  IdxArray images = read_idx(pictures, 3);
  IdxArray classes = read_idx(labels, 1);
  if (images.sizes[0] != classes.sizes[0])
    throw damaged(labels,
                  fmt::format("it has {} labels, and there are {} pictures", classes.sizes[0], images.sizes[0]));
  const std::vector<std::int64_t> sizes{1, images.sizes[1], images.sizes[2]};
  if (!shape.sizes.empty() && shape.sizes != sizes)
    throw damaged(pictures, "its pictures have another size than those to train on");
  shape.sizes = sizes;
  return {{}, std::move(images.bytes), std::move(classes.bytes)};
}

constexpr std::size_t kCifarPixels = 3 * 32 * 32;

void add_cifar(const std::string& folder, const std::string& name, LabelledSamples& samples) {
  const std::string file = file_of(folder, name);
  const std::vector<std::uint8_t> bytes = unpacked(file);
  constexpr std::size_t kRecord = 1 + kCifarPixels;
  if (bytes.empty() || bytes.size() % kRecord != 0)
    throw damaged(file, fmt::format("its {} bytes are no records of {}", bytes.size(), kRecord));
  for (auto at = bytes.begin(); at != bytes.end(); at += kRecord) {
    samples.labels.push_back(*at);
    samples.bytes.insert(samples.bytes.end(), at + 1, at + kRecord);
  }
}

}  // namespace

Dataset normalised(Dataset data, const std::string& folder) {
  double sum = 0, squares = 0;
  for (const std::uint8_t byte : data.train.bytes) sum += byte, squares += double{1} * byte * byte;
  const auto count = static_cast<double>(data.train.bytes.size());
  data.mean = static_cast<float>(sum / count);
  data.deviation = static_cast<float>(std::sqrt(std::max(squares / count - sum / count * sum / count, 1e-6)));
  data.classes = 1 + *std::ranges::max_element(data.train.labels);
  if (const int most = *std::ranges::max_element(data.test.labels); most >= data.classes)
    throw damaged(folder,
                  fmt::format("a sample to be judged by has the label {}, and those to train on have {} classes", most,
                              data.classes));
  return data;
}

Dataset load_idx(const std::string& folder) {
  Dataset data;
  data.train = read_pair(folder, "train", data.shape);
  data.test = read_pair(folder, "t10k", data.shape);
  return normalised(std::move(data), folder);
}

Dataset load_cifar(const std::string& folder) {
  Dataset data;
  data.shape.sizes = {3, 32, 32};
  for (int batch = 1; batch <= 5; ++batch) add_cifar(folder, fmt::format("data_batch_{}.bin", batch), data.train);
  add_cifar(folder, "test_batch.bin", data.test);
  return normalised(std::move(data), folder);
}

}  // namespace hbench
