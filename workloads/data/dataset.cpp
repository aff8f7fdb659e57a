#include "workloads/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <random>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::string_view kOfGreyPictures = "lenet5", kOfColouredPictures = "resnet18";
/// Where Debian's package puts it.
constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

constexpr std::array kSources{
    DataSource{.name = "mnist1d",
               .summary = "series of 40 numbers that look like digits, 4,000 and 1,000 to be judged by",
               .citation = "Greydanus and Kobak, Scaling down deep learning with MNIST-1D, ICML 2024",
               .model = "cnn1d",
               .state =
                   [] {
                     return Availability{true, "", ""};
                   },
               .load = make_mnist1d},
    DataSource{.name = "fashion-mnist",
               .summary = "60,000 pictures of clothes, 28 x 28, and 10,000 to be judged by",
               .citation = "Xiao, Rasul and Vollgraf, Fashion-MNIST, arXiv:1708.07747",
               .model = kOfGreyPictures,
               .state =
                   [] {
                     std::error_code absent;
                     const bool there = std::filesystem::is_directory(kFashionMnist, absent);
                     return Availability{there, there ? "" : fmt::format("there is no {}", kFashionMnist),
                                         there ? "" : "apt install dataset-fashion-mnist"};
                   },
               .load = [] { return load_idx(kFashionMnist); }},
};
constexpr std::array kTable{&kSources[0], &kSources[1]};

bool is_of_cifar(const std::string& folder) {
  std::error_code absent;
  return std::filesystem::exists(std::filesystem::path(folder) / "data_batch_1.bin", absent);
}

}  // namespace

void Dataset::fill(const LabelledSamples& of, std::int64_t index, std::span<float> into) const {
  const auto first = static_cast<std::size_t>(index) * into.size();
  if (!of.numbers.empty()) {
    std::ranges::copy(std::span(of.numbers).subspan(first, into.size()), into.begin());
    return;
  }
  std::ranges::transform(std::span(of.bytes).subspan(first, into.size()), into.begin(),
                         [&](std::uint8_t pixel) { return (static_cast<float>(pixel) - mean) / deviation; });
}

std::span<const DataSource* const> data_sources() { return kTable; }

bool has_pictures(const std::string& name_or_folder) {
  std::error_code absent;
  return std::filesystem::is_directory(std::filesystem::path(name_or_folder) / "train", absent);
}

std::string_view usual_model(const std::string& name_or_folder) {
  const auto found = std::ranges::find(kTable, name_or_folder, &DataSource::name);
  if (found != kTable.end()) return (*found)->model;
  return has_pictures(name_or_folder) || is_of_cifar(name_or_folder) ? kOfColouredPictures : kOfGreyPictures;
}

Dataset load_dataset(const std::string& name_or_folder, int image_size) {
  std::error_code absent;
  if (has_pictures(name_or_folder)) return load_pictures(name_or_folder, image_size);
  if (is_of_cifar(name_or_folder)) return load_cifar(name_or_folder);
  if (std::filesystem::is_directory(name_or_folder, absent)) return load_idx(name_or_folder);
  const DataSource& source = find_entry(data_sources(), name_or_folder, "data");
  if (const Availability state = source.state(); !state.available)
    throw state.error(fmt::format("no data {}", source.name));
  return source.load();
}

EpochOrder::EpochOrder(std::int64_t samples, int workers, Rank worker, int batch, std::uint64_t seed)
    : samples_(samples),
      own_((samples + workers - 1) / workers),
      batch_(batch),
      workers_(workers),
      worker_(worker),
      seed_(seed) {
  if (own_ < batch)
    throw Error(ExitCode::usage,
                fmt::format("{} samples are {} for each of {} ranks, and a batch is {}", samples, own_, workers, batch),
                "fewer ranks, or a smaller --batch");
}

std::span<const std::int64_t> EpochOrder::batch(std::int64_t number) {
  if (const std::int64_t epoch = number / batches(); epoch != epoch_) {
    epoch_ = epoch;
    std::vector<std::int64_t> all(static_cast<std::size_t>(samples_));
    std::iota(all.begin(), all.end(), 0);
    std::mt19937_64 random(seed_ * 1'000'003 + static_cast<std::uint64_t>(epoch));
    for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[random() % left]);
    order_.clear();
    for (std::int64_t i = worker_; std::ssize(order_) < own_; i += workers_)
      order_.push_back(all[static_cast<std::size_t>(i % samples_)]);
  }
  return std::span(order_).subspan(static_cast<std::size_t>(number % batches() * batch_),
                                   static_cast<std::size_t>(batch_));
}

}  // namespace hbench
