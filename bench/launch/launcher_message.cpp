#include "bench/launch/launcher_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Paragraph = std::vector<std::string>;  ///< lines, trimmed
using Block = std::vector<Paragraph>;

constexpr std::size_t kRuleLength = 20;
constexpr std::size_t kLongest = 300;

/// How blocks begin that say that something failed, and not what.
constexpr std::array<std::string_view, 6> kUninformative{"It looks like",          "Primary job  terminated",
                                                         "Primary job terminated", "mpirun has exited due to",
                                                         "mpirun noticed that",    "MPI_ABORT was invoked"};
constexpr std::array<std::string_view, 8> kErrorWords{"error",     "cannot",    "can't",   "could not",
                                                      "unable to", "not found", "no such", "failed"};
/// How Open MPI's libraries report an error: a reason, and where in their sources.
constexpr std::array<std::string_view, 3> kErrorLogs{"ORTE_ERROR_LOG: ", "PRTE ERROR: ", "PMIX ERROR: "};

bool is_rule(const std::string& line) {
  return line.size() >= kRuleLength && line.find_first_not_of('-') == std::string::npos;
}
bool has_words(const std::string& line) {
  return std::ranges::any_of(line, [](unsigned char c) { return isalnum(c); });
}

/// What stands between two rules, of which the second may be missing.
std::vector<Block> blocks_of(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  bool inside = false;
  for (const std::string& line : lines) {
    if (is_rule(line)) {
      inside = !inside;
      if (inside) blocks.emplace_back(1);
    } else if (inside && line.empty()) {
      blocks.back().emplace_back();
    } else if (inside) {
      blocks.back().back().push_back(line);
    }
  }
  for (Block& block : blocks) std::erase_if(block, [](const Paragraph& paragraph) { return paragraph.empty(); });
  std::erase_if(blocks, [](const Block& block) { return block.empty(); });
  return blocks;
}

bool is_informative(const Block& block) {
  return std::ranges::none_of(kUninformative,
                              [&](std::string_view begin) { return block.front().front().starts_with(begin); });
}

/// `Directory: /x`: a name of few words before a colon.
bool is_detail(const std::string& line) {
  const std::size_t colon = line.find(':');
  return colon != std::string::npos && colon + 1 < line.size() && line[colon + 1] == ' ' &&
         std::ranges::count(line.substr(0, colon), ' ') < 3;
}

/// The first sentence with what stands below it.
std::string text_of(const Block& block) {
  std::string text = fmt::format("{}", fmt::join(block.front(), " "));
  if (block.size() < 2) return text;
  const Paragraph& next = block[1];
  if (!text.ends_with(':') && !std::ranges::all_of(next, is_detail)) return text;
  if (text.ends_with('.')) text.pop_back();
  return fmt::format("{}{} {}", text, text.ends_with(':') ? "" : ":", fmt::join(next, ", "));
}

/// PMIx has one word for files that have no room: its tables are below the folder for temporary files.
std::string in_words(const std::string& reason) {
  if (reason != "OUT-OF-RESOURCE") return reason;
  return reason + ": the folder for temporary files (TMPDIR, else /tmp) may be full";
}

/// The reason in the libraries' first report that has one; empty when none has.
std::string logged_reason(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (is_rule(line)) return "";  // later ones follow from what the block says
    for (const std::string_view log : kErrorLogs) {
      const std::size_t begin = line.find(log);
      if (begin == std::string::npos) continue;
      const std::string reason = line.substr(begin + log.size(), line.find(" in file ") - begin - log.size());
      if (reason != "Error") return in_words(reason);
    }
  }
  return "";
}

/// What ssh says in front of the launcher's blocks, which only follow from it; empty where it says nothing.
std::string line_of_ssh(const std::vector<std::string>& lines) {
  constexpr std::array<std::string_view, 4> kWords{"ssh: ", "Permission denied (", "Host key verification failed",
                                                   "kex_exchange_identification: "};
  for (const std::string& line : lines) {
    if (is_rule(line)) return "";
    if (std::ranges::any_of(kWords, [&](std::string_view word) { return line.find(word) != std::string::npos; }))
      return line;
  }
  return "";
}

std::string plain_message(const std::vector<std::string>& lines) {
  std::string last;
  for (const std::string& line : lines) {
    if (!has_words(line)) continue;
    const std::string small = lower_case(line);
    if (std::ranges::any_of(kErrorWords, [&](std::string_view word) { return small.find(word) != std::string::npos; }))
      return line;
    last = line;
  }
  return last;
}

std::string shortened(std::string text) {
  if (text.size() <= kLongest) return text;
  const std::size_t space = text.rfind(' ', kLongest);
  return text.substr(0, space == std::string::npos ? kLongest : space) + " ...";
}

}  // namespace

std::string launcher_message(std::string_view errors) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(errors)) lines.emplace_back(trimmed(line));
  if (std::string ssh = line_of_ssh(lines); !ssh.empty()) return shortened(std::move(ssh));
  const std::string reason = logged_reason(lines);
  const std::vector<Block> blocks = blocks_of(lines);
  const auto block = std::ranges::find_if(blocks, is_informative);
  if (block != blocks.end()) {
    const std::string text = text_of(*block);
    return shortened(reason.empty() ? text : fmt::format("{}: {}", reason, text));
  }
  if (!reason.empty()) return reason;
  return shortened(blocks.empty() ? plain_message(lines) : text_of(blocks.front()));
}

}  // namespace hbench
