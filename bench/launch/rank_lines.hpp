#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace hbench {

/// Puts the lines of ranks together again. A launcher passes on what a rank wrote in pieces (Open MPI 4: of at most
/// 4096 bytes), and what another rank writes meanwhile comes between two pieces of one line. A launcher that is started
/// with the option to tag its output writes `[1,RANK]<stdout>:` before each line and each piece. Output without tags
/// passes as it is.
class RankLines {
 public:
  /// `on_line` is called with each whole line, without its end and without tags.
  explicit RankLines(std::function<void(std::string_view line)> on_line) : on_line_(std::move(on_line)) {}

  /// What the launcher wrote up to the end of a line, without that end.
  void add(std::string_view text);

 private:
  std::function<void(std::string_view line)> on_line_;
  std::map<std::string, std::string, std::less<>> begun_;  ///< by tag, lines of which pieces are still to come
};

/// The same text without any tags. Pure.
std::string without_rank_tags(std::string_view text);

}  // namespace hbench
