#include <fmt/format.h>

#include <numeric>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

/// Sizes of buckets in tensors: `2-15-12` or, of alike neighbours, `2-3x15`.
std::vector<std::size_t> read_counts(std::string_view text) {
  const auto fail = [&](std::string_view part) {
    throw Error(ExitCode::usage, fmt::format("buckets of fusion policy 'recorded': '{}' is no number of tensors", part),
                "write recorded:2-15-12, the tensors of each bucket in the order in which they become ready");
  };
  const auto number = [&](std::string_view part, std::size_t most) {
    const auto value = parse_number<std::size_t>(part);
    if (!value || *value < 1 || *value > most) fail(part);
    return *value;
  };
  constexpr std::size_t kMostTensors = 1'000'000;
  std::vector<std::size_t> counts;
  while (!text.empty()) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const std::string_view part = text.substr(0, dash);
    const std::size_t times = part.find('x');
    const std::size_t repeat = times == part.npos ? 1 : number(part.substr(0, times), kMostTensors - counts.size());
    counts.insert(counts.end(), repeat, number(times == part.npos ? part : part.substr(times + 1), kMostTensors));
    if (dash + 1 == text.size()) fail("");
    text.remove_prefix(std::min(dash + 1, text.size()));
  }
  return counts;
}

std::string counts_text(const std::vector<std::size_t>& counts) {
  std::string text;
  for (std::size_t i = 0, alike = 0; i < counts.size(); i += alike) {
    for (alike = 1; i + alike < counts.size() && counts[i + alike] == counts[i];) ++alike;
    text += fmt::format("{}{}{}", text.empty() ? "" : "-", alike > 1 ? fmt::format("{}x", alike) : "", counts[i]);
  }
  return text;
}

/// Buckets that were seen in somebody's own job, each launched once all of its tensors are ready.
class Recorded final : public FusionPolicy {
 public:
  Recorded(const std::vector<std::size_t>& counts, std::size_t tensors) : buckets_(tensors) {
    std::vector<Bucket> buckets;
    std::size_t next = 0;
    const auto add = [&](std::size_t count) {
      std::vector<int> list(std::min(count, tensors - next));
      std::iota(list.begin(), list.end(), static_cast<int>(next));
      next += list.size();
      if (!list.empty()) buckets.emplace_back(std::move(list));
    };
    for (const std::size_t count : counts) add(count);
    add(tensors - next);
    buckets_.fix(std::move(buckets));
  }

  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind == FusionEventKind::step_begin) buckets_.begin_step();
    if (event.kind != FusionEventKind::gradient_ready) return {};
    return buckets_.ready(event.index);
  }

 private:
  FixedBuckets buckets_;
};

}  // namespace

extern constinit const Fusion kRecorded{
    .name = "recorded",
    .summary =
        "the buckets of a recorded job, or recorded:2-15-12: the tensors of each bucket in their order; the rest in "
        "the last one",
    .citation = "the job's own recording",
    .canonical = [](std::string_view given) { return counts_text(read_counts(given)); },
    .make = [](std::string_view parameters,
               std::span<const std::int64_t> tensor_bytes) -> std::unique_ptr<FusionPolicy> {
      return std::make_unique<Recorded>(read_counts(parameters), tensor_bytes.size());
    },
};

}  // namespace hbench
