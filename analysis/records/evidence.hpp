#pragma once

/// How figures are known. A place that behaves differently asks for the property that this depends on, and names no
/// kind: a new kind is then one row of the table.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hbench {

/// How a figure is known. The order is that of the table, and of reports.
enum class Evidence : std::uint8_t { measured, emulated, simulated, published };

/// A row of the table. The properties are those of the functions below.
struct EvidenceKind {
  Evidence evidence;
  std::string_view name;
  std::string_view verb;  ///< what hbench does for such a figure; empty: nothing
  bool timed = false, of_cluster = false, of_others = false;
};

inline constexpr EvidenceKind kEvidenceKinds[]{
    {.evidence = Evidence::measured, .name = "measured", .verb = "measure", .timed = true},
    {.evidence = Evidence::emulated, .name = "emulated", .verb = "emulate", .timed = true, .of_cluster = true},
    {.evidence = Evidence::simulated, .name = "simulated", .verb = "simulate", .of_cluster = true},
    {.evidence = Evidence::published, .name = "published", .verb = "", .of_others = true},
};

constexpr const EvidenceKind& kind_of(Evidence kind) { return kEvidenceKinds[static_cast<std::size_t>(kind)]; }
/// Whether samples are times of a clock: there are launches, iterations, ranks, a machine, and a timed baseline.
constexpr bool is_timed(Evidence evidence) { return kind_of(evidence).timed; }
/// Whether the cluster of a profile is what is asked about, by a timeline of one of its GPUs. Else a model is trained.
constexpr bool is_of_cluster(Evidence evidence) { return kind_of(evidence).of_cluster; }
/// Whether somebody else printed the figure: hbench cannot ask again.
constexpr bool is_of_others(Evidence evidence) { return kind_of(evidence).of_others; }
/// Whether a model gives the figure, with a band, and no rank is started: many of them cost little.
constexpr bool is_predicted(Evidence evidence) { return is_of_cluster(evidence) && !is_timed(evidence); }
/// Whether the figure tells of the machine that timed it: no link was slowed to that of another.
constexpr bool is_of_machine(Evidence evidence) { return is_timed(evidence) && !is_of_cluster(evidence); }

constexpr std::string_view to_string(Evidence evidence) { return kind_of(evidence).name; }
/// \throws Error (usage), with a suggestion.
Evidence parse_evidence(std::string_view text);

}  // namespace hbench
