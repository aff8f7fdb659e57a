#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "collectives/base/units_text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

constexpr double kMostSamplesPerSecond = 1e12;

void read_rate_text(const TomlReader& read, std::string_view workload, const toml::table& fields, std::string_view key,
                    std::string& out) {
  if (const toml::node* node = fields.get(key))
    out = read.text(*node, fmt::format("the {} of rates.{} must be text", key, workload), kSourceHelp);
}

/// `[[8, 147.2], [64, 301]]`: samples/s by batch.
std::map<int, double> read_other_batches(const TomlReader& read, std::string_view workload, const toml::node& node) {
  constexpr std::string_view kForm = "others are [[batch, samples/s], ...]";
  std::map<int, double> rates;
  for (const toml::node& each : read.array(node, 1, kForm)) {
    const toml::array& pair = read.array(each, 2, kForm);
    if (pair.size() != 2) read.fail(each, kForm);
    const int batch = read.whole(pair[0], 1, 1'000'000, fmt::format("rates.{}: batch is not a count", workload));
    rates[batch] = read.number(pair[1], 1 / kMostSamplesPerSecond, kMostSamplesPerSecond,
                               fmt::format("rates.{} must be samples/s of one GPU", workload));
  }
  return rates;
}

GpuRate read_rate(const TomlReader& read, std::string_view workload, const toml::node& entry) {
  constexpr double kMostFactor = 100;
  constexpr std::array<std::string_view, 4> kPrecisions{"float32", "tf32", "fp16", "bf16"};
  const toml::table* fields = entry.as_table();
  const toml::node* value = fields != nullptr ? fields->get("value") : nullptr;
  GpuRate rate;
  rate.samples_per_second =
      read.number(value != nullptr ? *value : entry, 1 / kMostSamplesPerSecond, kMostSamplesPerSecond,
                  fmt::format("rates.{} must be samples/s of one GPU", workload),
                  "write a number, or { value = 219, batch = 64, source = \"...\" }");
  rate.source = fmt::format("stated in {}", read.file());
  rate.factor = kUsualRateFactor;
  if (fields == nullptr) return rate;
  read.check_keys(*fields,
                  std::array<std::string_view, 9>{"value", "batch", "factor", "node", "source", "precision", "software",
                                                  "unlike", "others"},
                  "", fmt::format(" in rates.{}", workload));
  if (const toml::node* batch = fields->get("batch"))
    rate.batch = read.whole(*batch, 1, 1'000'000, fmt::format("rates.{}: batch is not a count", workload),
                            "write a whole number of at least 1");
  if (const toml::node* factor = fields->get("factor"))
    rate.factor = read.number(
        *factor, 1, kMostFactor, fmt::format("rates.{}: factor is not between 1 and {:g}", workload, kMostFactor),
        "the rate may be higher or lower by this factor: 1 where it was measured on this very machine");
  if (const toml::node* node = fields->get("node"))
    rate.node = read.number(*node, 1 / kMostSamplesPerSecond, kMostSamplesPerSecond,
                            fmt::format("rates.{}: node must be samples/s of one full node", workload),
                            "write what all its GPUs make together, such as node = 2855");
  read_rate_text(read, workload, *fields, "source", rate.source);
  read_rate_text(read, workload, *fields, "precision", rate.precision);
  read_rate_text(read, workload, *fields, "software", rate.software);
  read_rate_text(read, workload, *fields, "unlike", rate.unlike);
  if (!rate.precision.empty() && std::ranges::find(kPrecisions, rate.precision) == kPrecisions.end())
    read.fail(*fields->get("precision"), fmt::format("rates.{}: '{}' is no precision", workload, rate.precision),
              fmt::format("write one of {}", fmt::join(kPrecisions, ", ")));
  if (const toml::node* others = fields->get("others")) rate.others = read_other_batches(read, workload, *others);
  if (!rate.others.empty() && (rate.batch == 0 || rate.others.contains(rate.batch)))
    read.fail(entry, fmt::format("rates.{}: others are of other batches than 'batch', which must be there", workload));
  return rate;
}

/// Gives each rate of a list those of the same precision and certainty at other batches.
void tell_batches(std::vector<GpuRate>& rates) {
  for (GpuRate& rate : rates)
    for (const GpuRate& other : rates)
      if (rate.batch > 0 && other.batch > 0 && rate.batch != other.batch && rate.precision == other.precision &&
          rate.software == other.software && rate.factor == other.factor)
        rate.others.try_emplace(other.batch, other.samples_per_second);
}

constexpr std::string_view kCodingForm = R"(write { encode = "0.1 ns", decode = "0.1 ns", source = "..." })";

double read_time(const TomlReader& read, const toml::node& node, const std::string& key) {
  const std::string text = read.text(node, fmt::format("coding.{} must be a time", key), kCodingForm);
  return read.at(
      node, [&] { return parse_seconds(text).value; }, fmt::format("coding.{}: ", key));
}

StatedCoding read_one(const TomlReader& read, const std::string& name, const toml::node& node) {
  const toml::table& fields = read.table(node, fmt::format("coding.{} must be a table", name), kCodingForm);
  read.check_keys(fields, std::array<std::string_view, 4>{"encode", "decode", "call", "source"}, "",
                  fmt::format(" in coding.{}", name));
  const auto time = [&](std::string_view key) {
    return read_time(read, read.required(fields, key, fmt::format("coding.{}.", name), kCodingForm),
                     fmt::format("{}.{}", name, key));
  };
  StatedCoding stated{.rate = {.encode = time("encode"), .decode = time("decode")},
                      .source = fmt::format("stated in {}", read.file())};
  if (fields.contains("call")) stated.rate.call = time("call");
  if (const toml::node* source = fields.get("source"))
    stated.source = read.text(*source, fmt::format("the source of coding.{} must be text", name), kSourceHelp);
  return stated;
}

}  // namespace

void read_rates(const TomlReader& read, const toml::table& table, Profile& profile) {
  const toml::node* node = table.get("rates");
  if (node == nullptr) return;
  for (const auto& [key, entry] : read.table(*node, "'rates' must be a section [rates]")) {
    std::vector<GpuRate>& stated = profile.stated_rates[std::string(key.str())];
    stated.clear();
    profile.rates.erase(std::string(key.str()));
    std::vector<const toml::node*> nodes;
    if (const toml::array* list = entry.as_array())
      for (const toml::node& each : *list) nodes.push_back(&each);
    else
      nodes.push_back(&entry);
    for (const toml::node* each : nodes) stated.push_back(read_rate(read, key.str(), *each));
    tell_batches(stated);
    // The first that may be used is a figure of the cluster; others are known beside it.
    const auto used = std::ranges::find_if(stated, [](const GpuRate& rate) { return rate.software.empty(); });
    if (used == stated.end()) continue;
    profile.rates.insert_or_assign(std::string(key.str()), *used);
    profile.figures.push_back({.key = fmt::format("rates.{}", key.str()),
                               .text = fmt::format("{} samples/s", used->samples_per_second),
                               .source = used->source,
                               .place = read.place(*nodes.at(static_cast<std::size_t>(used - stated.begin())))});
  }
}

std::map<std::string, StatedCoding, std::less<>> read_coding(const TomlReader& read, const toml::table& table) {
  std::map<std::string, StatedCoding, std::less<>> coding;
  const toml::node* section = table.get("coding");
  if (section == nullptr) return coding;
  for (const auto& [key, node] : read.table(*section, "'coding' must be a section [coding]")) {
    const std::string name(key.str());
    const std::string compressor = read.at(node, [&] { return parse_compressor(name).text(); });
    coding[compressor] = read_one(read, name, node);
  }
  return coding;
}

}  // namespace hbench
