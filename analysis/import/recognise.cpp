// Finds out which format a file has.

#include <fmt/format.h>

#include <array>

#include "analysis/import/format.hpp"
#include "analysis/import/nccl_tests_output.hpp"
#include "analysis/import/number_pattern.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Files of which people think that a benchmark may read them.
struct Stranger {
  std::string_view mark, also;  ///< expressions: both match in it
  std::string_view what;
};
/// The phase of an event; a number of this name is a benchmark's own.
constexpr std::string_view kPhase = R"("ph"\s*:\s*"[A-Za-z]")";
constexpr std::array kStrangers{
    Stranger{"\"traceEvents\"", "\"schemaVersion\"", "a torch.profiler trace (Kineto)"},
    Stranger{"\"traceEvents\"", "", "a trace of events (Chrome's format)"},
    Stranger{"NEGOTIATE_", kPhase, "a Horovod timeline"},
    Stranger{kPhase, "\"ts\"", "a trace of events (Chrome's format)"},
    Stranger{"\"coll_sn\"", "", "a log of exchanges by NCCL Inspector"},
};

/// Only a trace begins as one: a log may have any word.
void refuse_stranger(std::string_view text, std::string_view file_name) {
  const char first = text[text.find_first_not_of(" \t\r\n")];
  if (first != '{' && first != '[') return;
  for (const Stranger& stranger : kStrangers)
    if (!matches_of(stranger.mark, text, 1).empty() && !matches_of(stranger.also, text, 1).empty())
      refuse_file(file_name, fmt::format("this is {}: of a job, not of a benchmark", stranger.what),
                  fmt::format("make a workload of it: hbench import-job {}", shell_word(file_name)));
}

/// Sizes and bandwidths: by names of columns, or by a row.
constexpr std::string_view kCollectives =
    R"((?im)busbw|algbw|^[^0-9\n]*bandwidth[^0-9\n]*gb/s[^0-9\n]*$|^\W*[0-9.]+ *[kmg]i?b\W[^\n]*[0-9] *g(?:b/s|bps))";

/// A mark of Megatron, whose logs import-job reads: of others it has no use.
constexpr std::string_view kTraining = R"(elapsed time per iteration \()";

/// A table that a program prints for people, and the flag with which it writes the JSON that is read.
struct Printed {
  std::string_view mark;  ///< an expression
  std::string_view program, flag;
};
constexpr std::array kPrinted{
    Printed{R"((?m)^Name \(time in )", "pytest-benchmark", "--benchmark-json=1.json"},
    Printed{"Time \\(mean \xc2\xb1 \xcf\x83\\)", "hyperfine", "--export-json 1.json"},
    Printed{R"((?m)^\| *Command *\| *Mean \[)", "hyperfine", "--export-json 1.json"},
    Printed{R"((?m)^Benchmark .*\bMode +Cnt +Score)", "JMH", "-rf json -rff 1.json"},
    Printed{R"((?m)^Benchmark +Time +CPU +Iterations)", "Google Benchmark", "--benchmark_format=json > 1.json"},
    Printed{R"((?m)^\| *model +\| *size +\| *params +\|)", "llama-bench", "-o jsonl > 1.jsonl"},
};

/// A whole document, or the beginning of one: lines of a log may begin with a bracket too.
bool looks_like_json(std::string_view text) {
  const char first = text[text.find_first_not_of(" \t\r\n")];
  return !matches_of(R"(\A\s*(?:\[\s*)?\{\s*")", text, 1).empty() ||
         ((first == '{' || first == '[') && !read_json(text).is_discarded());
}

void refuse_printed(std::string_view text, std::string_view file_name) {
  const std::string plain = without_ci_prefixes(text);
  for (const Printed& printed : kPrinted)
    if (!matches_of(printed.mark, plain, 1).empty())
      refuse_file(file_name, fmt::format("this is what {} prints for people", printed.program),
                  fmt::format("its JSON is read: run it with {}", printed.flag));
}

/// The flags that take the first number of a text that has a word before it and its unit behind it; else an example.
std::string pattern_for(std::string_view text) {
  constexpr std::string_view kUnit = "([A-Za-z]+(?:/[A-Za-z]+)*)", kNumber = "([0-9]+(?:[.,][0-9]+)*)";
  const auto group = [](std::string_view number) { return number.find(',') == number.npos ? "" : ","; };
  for (const TextMatch& match :
       matches_of(fmt::format(R"(([A-Za-z]{{3}}[\w/ ]*[:= ] *){} ?{}(?:[^\w/]|$))", kNumber, kUnit), text))
    if (measured_unit(match[3]) && grouped_number(match[2]))
      return fmt::format("'{}([0-9.{}]+)' --unit {}", match[1], group(match[2]), match[3]);
  for (const TextMatch& match :
       matches_of(fmt::format(R"(([A-Za-z]{{3}}[\w/ ]*)\({}\)([:=] *){})", kUnit, kNumber), text))
    if (measured_unit(match[2]))
      return fmt::format(R"('{}\({}\){}([0-9.{}]+)' --unit {})", match[1], match[2], match[3], group(match[4]),
                         match[2]);
  return "'step: ([0-9.]+) ms' --unit ms";
}

/// Says what to do with a text that no format recognises, by what it looks like.
std::string way_out(std::string_view text) {
  constexpr std::string_view kTable =
      "a table of one collective and number of nodes is read as nccl-tests, OSU and IMB print it, or under a line of "
      "names such as 'size type redop time busbw' (bytes, us, GB/s; time may be left out), with --collective, "
      "--ranks, --nodes; ";
  constexpr std::string_view kJson =
      R"(JSON is read of lines such as {"step_ms": 12.3, "tokens_per_s": 4e5}, or a list [{"name": "step", )"
      R"("unit": "ms", "value": 12.3}]; )";
  constexpr std::string_view kLog = "this log of a training job is for hbench import-job; ";
  const bool is_table = !matches_of(kCollectives, text, 1).empty(), is_log = !matches_of(kTraining, text, 1).empty();
  return fmt::format(
      "{}hbench track init --pattern {} -- COMMAND tracks a number in a text (cat FILE prints one that is there); "
      "hbench list imports has the formats, and --as names one",
      is_table ? kTable : (looks_like_json(text) ? kJson : (is_log ? kLog : "")), pattern_for(text));
}

}  // namespace

const ImportFormat* recognised(std::string_view text, std::string_view file_name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    refuse_file(file_name, "it is empty", "did the program that wrote it fail?");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    refuse_file(file_name, "it is text in UTF-16, as PowerShell's > writes it",
                fmt::format("make it UTF-8: iconv -f utf-16 -t utf-8 -o 1.txt {}", shell_word(file_name)));
  refuse_stranger(text, file_name);
  for (const ImportFormat* format : import_formats())
    if (format->recognises(text)) return format;
  return nullptr;
}

const ImportFormat& recognise(std::string_view text, std::string_view file_name) {
  if (const ImportFormat* format = recognised(text, file_name)) return *format;
  refuse_printed(text, file_name);
  const std::string lacks = missing_columns(text);
  refuse_file(file_name, lacks.empty() ? "nothing known has this format" : lacks, way_out(text));
}

}  // namespace hbench
