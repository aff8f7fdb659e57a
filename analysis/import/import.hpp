#pragma once

/// `hbench import`: what other programs have measured becomes a run of a database.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// One file: what one process wrote.
struct ImportFile {
  std::string name;
  std::string text;
};

/// What the user says; whatever is empty or 0 is left to the files.
struct ImportRequest {
  std::string format;   ///< of all files; empty: each is recognised
  std::string machine;  ///< where they were measured
  std::string program;  ///< whose benchmarks they are
  ImportHints hints;
  std::map<std::string, std::string> labels;
  std::string command;  ///< as typed
  std::string version;  ///< of hbench
};

/// What one file has of one run, with what the request says of it.
struct ReadFile {
  std::string name, format;
  std::string digest;     ///< of its bytes, and which of its runs it is from the second on
  bool by_bytes = false;  ///< says when it was written, or holds many figures: an equal one is a copy
  ImportedOutput output;
};

/// Refuses cases that no program can have measured, by the check of `analysis/points/plausible.hpp`. \throws Error
/// (usage) that names the file.
void refuse_implausible(const std::vector<CaseResult>& cases, std::string_view file);

/// Refuses a `better` that changes nothing, since the unit of each value says which way is better. \throws Error
/// (usage) that names the file.
void refuse_idle_better(std::optional<BetterValue> better, const std::vector<CaseResult>& cases, std::string_view file);

/// The files of each run: of files that hold the same cases several times, their first ones are a run, their second
/// ones another. \throws Error (usage): as the formats and `refuse_implausible`, where the program or the number of
/// ranks is not known, and where the request contradicts a file.
std::vector<std::vector<ReadFile>> read_files(const std::vector<ImportFile>& files, const ImportRequest& request);

/// Takes out copies of files of the same list; a sentence for each. Of files that may be equal by chance, only the
/// sentence.
std::vector<std::string> remove_copies(std::vector<ReadFile>& files);
/// Takes out the files that one of `runs` with the same labels holds already, whatever they are called there; a
/// sentence for each of them. Files that may be equal by chance are only known together with all files of their run
/// (`Store::add_run`).
std::vector<std::string> remove_known(std::vector<ReadFile>& files, const ImportRequest& request,
                                      const std::vector<Run>& runs);

/// A run that is ready to be stored. Each case has a launch for each file that has it, in the order of the files.
struct ImportedRun {
  Run run;
  std::vector<CaseResult> cases;
  std::size_t files = 0;
  std::vector<std::string> formats;   ///< by name, each once
  std::vector<std::string> left_out;  ///< what the run has not, and why, with its file
  std::vector<std::string> notes;     ///< what else there is to know, in sentences
};

/// The files as one run. Its UUID follows from what the files hold, the labels and what else was asked, so the same
/// import has the same one. Where no label `gate` is given it names the programs. The run began when the earliest file
/// says, or at `now`. \throws Error (usage) for files of two machines, and of the future. \pre there is a file.
ImportedRun imported_run(std::vector<ReadFile> files, const ImportRequest& request, const std::string& now);

}  // namespace hbench
