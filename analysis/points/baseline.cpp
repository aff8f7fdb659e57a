#include "analysis/points/baseline.hpp"

#include <fmt/format.h>

#include <ranges>

#include "analysis/records/case_fields.hpp"

namespace hbench {
namespace {

/// The first field of the work that differs, as `precision bf16, not none`; empty where the work is the same.
std::string other_work(const Case& candidate, const Case& asked) {
  for (const CaseField& field : case_fields()) {
    if (field.part != Part::work) continue;
    const FieldValue there = field.get(candidate), here = field.get(asked);
    if (there != here)
      return fmt::format("the baseline is of {} {}, this of {}", field.name, in_words(there), in_words(here));
  }
  return "";
}

std::string machine_of(const CaseResult& result) {
  if (!result.machine_in_words.empty()) return result.machine_in_words;
  return result.asked.machine.empty() ? "one that is not known" : result.asked.machine;
}

std::string other_place(const CaseResult& candidate, const CaseResult& result) {
  if (candidate.asked.evidence != result.asked.evidence || candidate.asked.profile != result.asked.profile)
    return fmt::format("the baseline was {} on {}", to_string(candidate.asked.evidence), candidate.asked.profile);
  return fmt::format("the baseline was measured on another machine: {}; this on {}", machine_of(candidate),
                     machine_of(result));
}

std::string code_of(const CaseResult& result) {
  const std::string commit = result.producer.commit();
  return fmt::format("{}{}{}{}{}", result.asked.implementation, result.producer.version.empty() ? "" : " of hbench ",
                     result.producer.version, commit.empty() ? "" : " at commit ", commit);
}

/// How near a candidate is, best last: another work, another place, other code, another run, all the same.
enum class Nearness : std::uint8_t { none, work, place, code, run };

Nearness nearness(const CaseResult& candidate, const CaseResult& result) {
  const Case asked = result.asked.baseline(), base = candidate.asked.baseline();
  if (base.question() != asked.question()) return Nearness::none;
  if (base.place() != asked.place()) return Nearness::work;
  if (!same_code(candidate.asked, candidate.producer, result.asked, result.producer)) return Nearness::place;
  return candidate.producer.run == result.producer.run ? Nearness::run : Nearness::code;
}

std::string reason(const CaseResult* nearest, Nearness near, const CaseResult& result) {
  if (nearest == nullptr) return "no process without communication was timed";
  if (near == Nearness::none) return other_work(nearest->asked, result.asked);
  if (near == Nearness::work) return other_place(*nearest, result);
  if (near == Nearness::place)
    return fmt::format("the baseline was measured by {}, this by {}", code_of(*nearest), code_of(result));
  return fmt::format("the baseline was measured in run {}, this in run {}: the machine may have changed between",
                     nearest->producer.run, result.producer.run);
}

bool is_baseline(const CaseResult& candidate) {
  return candidate.status == CaseStatus::done && candidate.asked.is_timed() && !candidate.asked.strategy.communicates();
}

}  // namespace

BaselineChoice choose_baseline(const CaseResult& result, const std::vector<CaseResult>& candidates) {
  const CaseResult* nearest = nullptr;
  Nearness best = Nearness::none;
  for (const CaseResult& candidate : candidates | std::views::reverse) {
    if (!is_baseline(candidate) || candidate.asked.workload != result.asked.workload) continue;
    const Nearness near = nearness(candidate, result);
    if (nearest != nullptr && near <= best) continue;
    nearest = &candidate;
    best = near;
  }
  if (nearest != nullptr && best == Nearness::run) return {nearest, ""};
  return {nullptr, reason(nearest, best, result)};
}

}  // namespace hbench
