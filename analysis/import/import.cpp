#include "analysis/import/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analysis/points/plausible.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/store/uuid.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// The fact by which a run remembers its files, one after another.
constexpr const char* kImported = "imported";
constexpr std::string_view kSeparator = ", ";

/// The least number of figures (of three digits and more) that are not equal by chance in two files.
constexpr std::size_t kManyFigures = 8;

/// The machine of files that do not name it.
constexpr const char* kUnnamed = "not named";

/// `google-benchmark 0123456789abcdef` is how a run remembers a file.
std::string remembered(const ReadFile& file) { return fmt::format("{} {}", file.format, file.digest); }

/// Of each file of a run that was imported; none of others.
std::vector<std::string> remembered_by(const Run& run) {
  const auto found = run.environment.find(kImported);
  if (found == run.environment.end()) return {};
  const std::string& text = found->second;
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kSeparator, begin), text.size());
    files.push_back(text.substr(begin, end - begin));
    begin = end + kSeparator.size();
  }
  return files;
}

/// The machine, as far as it is known. Ranks and nodes are given where a collective's output says nothing of it.
void complete_machine(ImportedOutput& output, std::string_view file, const ImportRequest& request) {
  if (!request.machine.empty()) output.environment[std::string(kMachineName)] = request.machine;
  if (!output.environment.empty()) return;
  if (std::ranges::any_of(output.cases, [](const CaseResult& each) { return each.asked.is_benchmark(); }))
    refuse_file(file, "it does not say on which machine it was measured",
                "add --machine NAME: runs of one name are taken to be of machines that compare");
  output.environment[std::string(kMachineName)] = kUnnamed;
}

/// What the output leaves open, from the request.
void complete(ImportedOutput& output, std::string_view file, const ImportRequest& request) {
  complete_machine(output, file, request);
  complete_collectives(output, file, request.hints);
  if (!request.program.empty()) output.program = request.program;
  for (CaseResult& result : output.cases) {
    if (!result.asked.is_benchmark()) continue;
    if (output.program.empty()) refuse_file(file, "it does not say which program it is of", "add --program NAME");
    result.asked.benchmark = fmt::format("{} {}", output.program, result.asked.benchmark);
  }
}

/// Whether an output holds `kManyFigures`, or its text as many decimal points between digits: an equal one is a copy.
bool holds_many_figures(const ImportedOutput& output, std::string_view text) {
  std::size_t figures = 0, decimals = 0;
  for (const CaseResult& each : output.cases) figures += each.samples.size();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 2; i < text.size(); ++i)
    decimals += text[i - 1] == '.' && is_digit(text[i - 2]) && is_digit(text[i]) ? 1 : 0;
  return std::max(figures, decimals) >= kManyFigures;
}

/// The cases of all files.
class Merged {
 public:
  void add(std::vector<CaseResult> output) {
    for (CaseResult& each : output) {
      auto [known, is_new] = by_key_.try_emplace(each.asked.key(), Place{cases_.size(), 0});
      const int before = known->second.launches;
      int last = 0;
      for (Sample& sample : each.samples) {
        last = std::max(last, sample.launch);
        sample.launch += before;
      }
      known->second.launches += last + 1;
      if (is_new)
        cases_.push_back(std::move(each));
      else
        add_launch(cases_[known->second.index], std::move(each));
    }
  }
  std::vector<CaseResult> take() { return std::move(cases_); }

 private:
  struct Place {
    std::size_t index = 0;
    int launches = 0;
  };

  /// A case that has failed once has failed: what is wrong in one launch of five is wrong.
  static void add_launch(CaseResult& all, CaseResult one) {
    if (all.status == CaseStatus::failed) return;
    if (one.status == CaseStatus::failed) {
      all = std::move(one);
      return;
    }
    all.samples.insert(all.samples.end(), std::make_move_iterator(one.samples.begin()),
                       std::make_move_iterator(one.samples.end()));
  }

  std::vector<CaseResult> cases_;
  std::map<std::string, Place> by_key_;
};

/// In which facts two environments differ.
std::string difference(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  const auto known = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
  std::vector<std::string> texts;
  for (const ChangedFact& fact : changed_facts(a, b))
    texts.push_back(fmt::format("{} is {}, not {}", fact.fact, known(fact.after), known(fact.before)));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// What a file is of: its program, or whose collectives.
void add_subjects(std::set<std::string>& subjects, const ReadFile& file) {
  for (const CaseResult& each : file.output.cases) {
    const Case& asked = each.asked;
    subjects.insert(asked.is_benchmark() ? file.output.program
                                         : fmt::format("{} {}", asked.collective.executor, asked.collective.name));
  }
}

/// Those given, and a gate by which `hbench track check` misses what an earlier import of the same subjects had, and
/// nothing of other imports.
std::map<std::string, std::string> labels_of(const std::vector<ReadFile>& files, const ImportRequest& request) {
  std::map<std::string, std::string> labels = request.labels;
  std::set<std::string> subjects;
  for (const ReadFile& file : files) add_subjects(subjects, file);
  labels.try_emplace("gate", fmt::format("{}", fmt::join(subjects, ", ")));
  return labels;
}

/// Of what it holds; the same again is the same run.
std::string uuid_of_import(const Run& run, const ImportRequest& request) {
  std::string contents = fmt::format("import\n{}\n{}\n{}\n{}\n", request.machine, request.program, request.hints.ranks,
                                     request.hints.nodes);
  std::vector<std::string> files = remembered_by(run);
  std::ranges::sort(files);
  for (const std::string& file : files) contents += file + "\n";
  for (const auto& [key, value] : run.labels) contents += fmt::format("{}={}\n", key, value);
  return store::uuid_of(contents);
}

}  // namespace

void refuse_implausible(const std::vector<CaseResult>& cases, std::string_view file) {
  for (const CaseResult& each : cases)
    if (const std::string fault = implausible(each); !fault.empty())
      refuse_file(file, fault, "nothing is imported: is it as the program wrote it?");
}

void refuse_idle_better(std::optional<BetterValue> better, const std::vector<CaseResult>& cases,
                        std::string_view file) {
  bool timed = false;
  for (const CaseResult& each : cases)
    for (const Sample& sample : each.samples) {
      if (!measured_unit(sample.unit)) return;
      timed = true;
    }
  if (better && timed)
    refuse_file(file, "--better changes none of its values: their units say it",
                "leave --better (in hbench.toml better) out");
}

std::vector<std::vector<ReadFile>> read_files(const std::vector<ImportFile>& files, const ImportRequest& request) {
  std::vector<std::vector<ReadFile>> runs;
  std::vector<CaseResult> all;
  for (const ImportFile& file : files) {
    const std::string text = without_colours(file.text);
    const ImportFormat& format =
        request.format.empty() ? recognise(text, file.name) : find_import_format(request.format);
    ImportedOutput first = format.parse(text, file.name, request.hints);
    std::vector<ImportedOutput> outputs = std::exchange(first.later, {});
    outputs.insert(outputs.begin(), std::move(first));
    const std::string digest = digest_text(file.text);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (runs.size() <= i) runs.emplace_back();
      ReadFile& read = runs[i].emplace_back(ReadFile{.name = file.name,
                                                     .format = std::string(format.name),
                                                     .digest = i == 0 ? digest : fmt::format("{}-{}", digest, i + 1),
                                                     .output = std::move(outputs[i])});
      read.by_bytes = !read.output.started_at.empty() || holds_many_figures(read.output, file.text);
      complete(read.output, file.name, request);
      refuse_implausible(read.output.cases, file.name);
      if (request.hints.better) std::ranges::copy(read.output.cases, std::back_inserter(all));
    }
  }
  if (!files.empty()) refuse_idle_better(request.hints.better, all, files.front().name);
  return runs;
}

std::vector<std::string> remove_copies(std::vector<ReadFile>& files) {
  std::map<std::string, std::string> names;  // of the first file with a digest
  std::vector<std::string> notes;
  std::erase_if(files, [&](const ReadFile& file) {
    const auto [known, is_new] = names.try_emplace(file.digest, file.name);
    if (!is_new)
      notes.push_back(fmt::format("{} is equal to {}: {}", file.name, known->second,
                                  file.by_bytes
                                      ? "copies are one launch"
                                      : "so few figures may be equal by chance, and each counts as a launch"));
    return !is_new && file.by_bytes;
  });
  return notes;
}

std::vector<std::string> remove_known(std::vector<ReadFile>& files, const ImportRequest& request,
                                      const std::vector<Run>& runs) {
  std::map<std::string, std::int64_t> known;  // by what is remembered of a file, its run
  const std::map<std::string, std::string> labels = labels_of(files, request);
  for (const Run& run : runs)
    if (run.labels == labels)
      for (const std::string& file : remembered_by(run)) known.emplace(file, run.id);
  std::vector<std::string> notes;
  std::erase_if(files, [&](const ReadFile& file) {
    const auto found = known.find(remembered(file));
    if (found == known.end() || !file.by_bytes) return false;
    notes.push_back(fmt::format("{}: run {} has it already", file.name, found->second));
    return true;
  });
  return notes;
}

ImportedRun imported_run(std::vector<ReadFile> files, const ImportRequest& request, const std::string& now) {
  ImportedRun imported{.files = files.size()};
  Run& run = imported.run;
  run.command = request.command;
  run.version = request.version;
  run.labels = labels_of(files, request);
  run.environment = files.front().output.environment;
  Merged merged;
  for (ReadFile& file : files) {
    ImportedOutput& output = file.output;
    if (output.environment != files.front().output.environment)
      refuse_file(file.name,
                  fmt::format("it was measured elsewhere than {}: {}", files.front().name,
                              difference(files.front().output.environment, output.environment)),
                  "a run is of one machine: import them by a command each");
    if (std::ranges::find(imported.formats, file.format) == imported.formats.end())
      imported.formats.push_back(file.format);
    if (const std::string fault = output.started_at.empty() ? "" : implausible(Run{.started_at = output.started_at});
        !fault.empty())
      refuse_file(file.name, fault,
                  "the clock of the machine that measured is wrong, or this one's; correct the time in the file");
    if (!output.started_at.empty() && (run.started_at.empty() || output.started_at < run.started_at))
      run.started_at = output.started_at;
    for (const std::string& what : output.left_out) imported.left_out.push_back(fmt::format("{}: {}", file.name, what));
    merged.add(std::move(output.cases));
  }
  if (const auto name = run.environment.find(std::string(kMachineName));
      name != run.environment.end() && name->second == kUnnamed)
    imported.notes.push_back(
        "nothing says on which machine this was measured: add --machine NAME, so that it is not "
        "compared with other machines");
  if (run.started_at.empty()) run.started_at = now;
  imported.cases = merged.take();
  for (CaseResult& each : imported.cases) place_on_this_machine(each.asked, run);
  std::string& all = run.environment[kImported];
  for (const ReadFile& file : files) all += fmt::format("{}{}", all.empty() ? "" : kSeparator, remembered(file));
  run.uuid = uuid_of_import(run, request);
  return imported;
}

}  // namespace hbench
