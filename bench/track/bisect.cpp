#include "bench/track/bisect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/command/shell_word.hpp"
#include "bench/track/git.hpp"

namespace hbench {
namespace {

/// A percentage that `--least-effect` takes.
std::string share_text(double share) { return fmt::format("{:.2g}%", 100 * share); }

/// So that the command is never run elsewhere.
std::string inside(const std::string& folder, const std::string& command) {
  return fmt::format("cd {} || exit; {}", shell_word(folder), command);
}

}  // namespace

double BisectRequest::least_effect() const { return std::clamp(std::abs(range.shift) / 2, 0.001, 1.0); }

std::string bisect_commands(const BisectRequest& request, const std::string& tree) {
  const std::string build = request.build.text.empty() ? "true" : request.build.text;
  std::string pair = fmt::format("hbench track pair --fail-on inconclusive --least-effect {} --base {} --head {}",
                                 share_text(request.least_effect()), shell_word(inside(tree, request.measure.text)),
                                 shell_word(request.measure.text));
  pair += request.pattern.in_shell();
  if (!request.metric.empty()) pair += " --metric " + shell_word(request.metric);
  if (request.launches > 0) pair += fmt::format(" --launches {}", request.launches);
  // git takes 125 for a commit of which nothing can be said.
  const std::string test =
      fmt::format("({}) || exit 125\n{}\ncase $? in 0) exit 0 ;; 10) exit 1 ;; *) exit 125 ;; esac", build, pair);
  return fmt::format(
      "git worktree add --detach {} {}\n(cd {} && ({}))\ngit bisect start {} {}\ngit bisect run sh -c {}\n"
      "git bisect reset\ngit worktree remove --force {}\n",
      shell_word(tree), shell_word(request.range.good), shell_word(tree), build, shell_word(request.range.bad),
      shell_word(request.range.good), shell_word(test), shell_word(tree));
}

}  // namespace hbench
