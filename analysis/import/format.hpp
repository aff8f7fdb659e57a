#pragma once

/// Formats in which other programs write what they have timed. Each is one file that defines an `ImportFormat`, and a
/// line in `format.cpp`. Pure: text in, records out.
///
/// The cases of one imported output, as they are found. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/words.hpp"
#include "analysis/records/records.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// What one process has written: one launch of each of its cases. What it does not say is left open for who imports
/// it: `program` and `environment` may be empty, and `Case::gpus` 0, which means that the number of ranks is not known.
struct ImportedOutput {
  /// Which program was timed, as it calls itself; stands before the names of its benchmarks. Of collectives empty.
  std::string program = {};
  std::string started_at = {};  ///< ISO 8601, UTC; empty where it does not say
  /// Facts about the machine by the names of `Run::environment`: `gpu`, `cores`, `nccl` ...
  std::map<std::string, std::string> environment = {};
  /// Measured here (`kLocalProfile`), launch 0 (hbench's own output tells its launches), each key once; no machine yet.
  /// A benchmark (`Case::benchmark`) has its own name without the program's, and samples of `metric::kBenchmarkSeconds`
  /// or `metric::kBenchmarkRate`; a collective has those of `analysis/points/collectives.hpp`. What the program calls
  /// wrong is a failed case.
  std::vector<CaseResult> cases = {};
  std::vector<std::string> left_out = {};  ///< what is not imported, and why, in sentences
  /// What the file has of later runs: cases that stand in it once more, or were measured on other machines.
  std::vector<ImportedOutput> later = {};
};

/// What the user says of a file; empty or 0 where nothing is said. A format that needs it to understand the file uses
/// it where the file does not say it itself.
struct ImportHints {
  std::string collective = {};
  int ranks = 0, nodes = 0;
  std::optional<BetterValue> better = {};  ///< of values whose unit does not say it
};

/// \throws Error (usage): what is wrong with a file, and its cure.
[[noreturn]] void refuse_file(std::string_view file_name, std::string_view what, std::string hint);

/// Takes from the hints what the collectives leave open. \throws Error (usage) where both differ, and where the number
/// of ranks is not known.
void complete_collectives(ImportedOutput& output, std::string_view file_name, const ImportHints& hints);

struct ImportFormat {
  std::string_view name, summary;
  std::string_view example;  ///< a command that writes it
  /// Whether a text is of this format, as far as its beginning tells: also one that is cut off.
  bool (*recognises)(std::string_view text);
  /// What cannot be read is left out where something else can. \throws Error (usage) with file and line, or the place
  /// in its JSON: for what is cut off, or contradicts itself or the hints, and where there is no case.
  ImportedOutput (*parse)(std::string_view text, std::string_view file_name, const ImportHints& hints);
};

/// In the order in which they are tried: what any text may hold comes last.
std::span<const ImportFormat* const> import_formats();
/// \throws Error (usage), with a suggestion.
const ImportFormat& find_import_format(std::string_view name);
/// The first format that recognises the text; null for none. \throws Error (usage) for traces of other programs, which
/// hbench does not read.
const ImportFormat* recognised(std::string_view text, std::string_view file_name);
/// The same. \throws Error (usage) that names a way out where there is none.
const ImportFormat& recognise(std::string_view text, std::string_view file_name);

/// A benchmark that was measured where the program ran, which says nothing more of it.
Case imported_case(std::string_view implementation);
/// A benchmark by its own name. On one rank, unless the program says otherwise.
Case imported_benchmark(std::string_view implementation, std::string name);
/// A collective that another program has timed by its library's own implementation (`vendor`), on ranks that the caller
/// knows. Types and operations get hbench's names where it has them (`float`: `float32`), else they are kept; an
/// empty operation is none.
Case collective_case(std::string_view program, CollectiveKind kind, std::int64_t bytes, std::string_view type,
                     std::string_view operation);

/// The end of what is left out because nothing was exchanged: of all that is left out, it alone is no loss.
inline constexpr std::string_view kOfNoBytes = " of 0 bytes";

class ImportedCases {
 public:
  /// Adds values of launch 0 to the case; each is a further iteration of its metric, whether or not the case was there.
  void add(const Case& asked, std::string_view metric, std::span<const double> values, std::string_view unit);
  /// The case failed, whatever it has said before and says later: it keeps no samples.
  void fail(const Case& asked, std::string reason, int exit_code);

  bool empty() const { return results_.empty(); }
  std::vector<CaseResult> take();

 private:
  CaseResult& result_of(const Case& asked);

  std::vector<CaseResult> results_;
  std::map<std::string, std::size_t> by_key_;                      ///< of each case, its index
  std::map<std::pair<std::string, std::string>, int> iterations_;  ///< of each key and metric, how many there are
};

/// The tests of one file, in their order, as one run; a test that has a case of that run again, or was measured on
/// another machine, begins a later one. \pre there is a test.
ImportedOutput merged(std::vector<ImportedOutput> tests);

/// The tests of one file, as they are read.
class ImportedTests {
 public:
  explicit ImportedTests(std::string_view file_name) : file_name_(file_name) {}

  /// Ends the test that was read before, if there was one.
  void begin();
  ImportedCases& cases() { return cases_; }
  void leave_out(std::string what) { left_out_.push_back(std::move(what)); }
  /// \throws Error (usage) where there is no case: with the first thing that was left out, or `nothing` and its cure.
  ImportedOutput finish(std::string_view nothing, std::string_view hint);

 private:
  std::string_view file_name_;
  ImportedCases cases_;
  std::vector<ImportedOutput> tests_;
  std::vector<std::string> left_out_;
};

}  // namespace hbench
