#pragma once

/// All that `hbench doctor` found: for people and for machines. Pure.
///
/// What `hbench doctor` says: findings, a row each.

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/library.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// One thing looked at.
struct Finding {
  std::string what;
  std::string state;
  std::string cure;       ///< empty: nothing to do
  bool optional = false;  ///< people may well do without
};

/// `good` where it is available; otherwise its reason and cure.
Finding finding_of(std::string what, const Availability& availability, std::string good);

/// An error where a training and its repetition have different losses (`loss_fingerprint`).
Finding finding_of_losses(std::uint64_t once, std::uint64_t again);

/// An error needs its fix; a note has one that people may well do without.
Severity severity_of(const Finding& finding);

/// A row each: its severity, the thing, its state and, in brackets, the fix.
Table findings_table(const std::vector<Finding>& findings);

/// Those that need a fix.
int problems_among(const std::vector<Finding>& findings);

/// Findings, the tables of the machine's topology, and last how many problems there are.
Document doctor_document(const std::vector<Finding>& findings, const std::vector<Table>& topology);

/// `{"findings": [{"checked", "found", "fix", "optional", "problem"}], "topology": {"GPUs": [...], ...}, "problems":
/// 1}`; `fix` is null where there is nothing to do.
std::string doctor_json(const std::vector<Finding>& findings, const std::vector<Table>& topology,
                        Form form = Form::values);

}  // namespace hbench
