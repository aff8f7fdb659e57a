#include "collectives/fusion/fusion.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr Unit kSizes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};
constexpr Unit kTimes[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
constexpr Unit kRates[] = {{"Gbit/s", 125'000'000}, {"Mbit/s", 125'000}, {"kbit/s", 125}, {"B/s", 1}};
/// Whole numbers up to here are exact in a double.
constexpr double kLargest = 0x1p53;

struct FieldKind {
  std::span<const Unit> units;
  double (*parse)(std::string_view text);
  std::string_view least;
  double counts = 1;  ///< in what `parse` returns one of
};

constexpr FieldKind kSize{kSizes, [](std::string_view text) { return parse_bytes(text).value; }, "at least one byte"};
constexpr FieldKind kTime{kTimes, [](std::string_view text) { return parse_seconds(text).value; }, "from 1 ns on", 1e9};
constexpr FieldKind kRate{kRates, [](std::string_view text) { return parse_rate(text).value; }, "from 8 bit/s on"};

const FieldKind& kind_of(std::string_view text) {
  if (text.ends_with("/s")) return kRate;
  return text.ends_with('s') ? kTime : kSize;
}

/// A field's value in whole bytes, nanoseconds, or bytes per second.
struct Amount {
  std::int64_t count = 0;
  const FieldKind& kind;

  std::string text() const {
    const Unit* unit = kind.units.data();
    while (count % unit->size != 0) ++unit;
    return fmt::format("{}{}", count / unit->size, unit->name);
  }
};

Amount parse_amount(std::string_view text, const FieldKind& kind) {
  const double count = std::round(kind.parse(text) * kind.counts);
  if (!(count >= 1 && count <= kLargest))
    throw Error(ExitCode::usage, fmt::format("'{}' is out of range", text), std::string(kind.least));
  return {static_cast<std::int64_t>(count), kind};
}

std::vector<Amount> read(const Fusion& fusion, std::string_view given) {
  const std::string complete = complete_parameters("fusion policy", fusion.name, fusion.fields, fusion.defaults, given);
  std::vector<Amount> amounts;
  if (complete.empty()) return amounts;
  const auto names = split(fusion.fields, ':'), defaults = split(fusion.defaults, ':'), texts = split(complete, ':');
  for (std::size_t i = 0; i < names.size(); ++i) {
    try {
      amounts.push_back(parse_amount(texts[i], kind_of(defaults[i])));
    } catch (const Error& error) {
      throw Error(ExitCode::usage, fmt::format("{} of fusion policy '{}': {}", names[i], fusion.name, error.what()),
                  fmt::format("write {0}:{1}, such as {0}:{2} ({3})", fusion.name, fusion.fields, fusion.defaults,
                              error.hint()));
    }
  }
  return amounts;
}

}  // namespace

extern const Fusion kNone;
extern const Fusion kThreshold;
extern const Fusion kHorovod;
extern const Fusion kHorovod2018;
extern const Fusion kDdp;
extern const Fusion kByteps;
extern const Fusion kMgWfbp;
extern const Fusion kRecorded;

std::span<const Fusion* const> fusions() {
  static constexpr std::array kTable{&kNone, &kThreshold, &kHorovod, &kHorovod2018,
                                     &kDdp,  &kByteps,    &kMgWfbp,  &kRecorded};
  return kTable;
}

Bucket Bucket::piece(int tensor, std::int64_t begin, std::int64_t end) {
  Bucket piece{tensor};
  piece.begin = begin;
  piece.end = end;
  return piece;
}

std::int64_t Bucket::bytes(std::span<const std::int64_t> tensor_bytes) const {
  if (!whole()) return end - begin;
  return std::transform_reduce(tensors.begin(), tensors.end(), std::int64_t{0}, std::plus<>(),
                               [&](int tensor) { return tensor_bytes[static_cast<std::size_t>(tensor)]; });
}

std::string FusionChoice::text() const {
  std::string text(fusion->name);
  if (!parameters.empty()) text += ":" + parameters;
  return text;
}

std::unique_ptr<FusionPolicy> FusionChoice::make(std::span<const std::int64_t> tensor_bytes) const {
  return fusion->make(parameters, tensor_bytes);
}

FusionChoice parse_fusion(std::string_view text) {
  const auto [name, given] = split_name(text);
  const Fusion& fusion = find_entry(fusions(), name, "fusion policy");
  return {&fusion, fusion.canonical != nullptr ? fusion.canonical(given) : canonical_parameters(fusion, given)};
}

std::vector<double> read_parameters(const Fusion& fusion, std::string_view given) {
  std::vector<double> values;
  for (const Amount& amount : read(fusion, given))
    values.push_back(static_cast<double>(amount.count) / amount.kind.counts);
  return values;
}

std::string canonical_parameters(const Fusion& fusion, std::string_view given) {
  std::string text;
  for (const Amount& amount : read(fusion, given)) {
    if (!text.empty()) text += ':';
    text += amount.text();
  }
  return text;
}

void FixedBuckets::fix(std::vector<Bucket> buckets) {
  buckets_ = std::move(buckets);
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    for (const int tensor : buckets_[i].tensors) bucket_of_[static_cast<std::size_t>(tensor)] = i;
}

void FixedBuckets::begin_step() {
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.tensors.size());
  next_ = 0;
}

std::vector<Bucket> FixedBuckets::ready(int tensor) {
  --missing_[bucket_of_[static_cast<std::size_t>(tensor)]];
  std::vector<Bucket> leaving;
  for (; next_ < buckets_.size() && missing_[next_] == 0; ++next_) leaving.push_back(buckets_[next_]);
  return leaving;
}

}  // namespace hbench
