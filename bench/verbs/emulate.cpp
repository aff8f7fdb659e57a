#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "analysis/records/emulation.hpp"
#include "bench/command/program.hpp"
#include "bench/command/verb.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/emulation/namespaces.hpp"
#include "bench/launch/process.hpp"
#include "bench/worker/protocol.hpp"

namespace hbench {
namespace {

Error internal_verb() {
  return {ExitCode::usage, "internal verb: emulated hosts are made by hbench sweep --evidence emulated",
          "hbench sweep --help says how"};
}

void print_line(const WorkerLine& line) { fmt::print("{}\n", to_json(line)); }

void say_share(std::string_view metric, double share) {
  print_line(SamplesLine{.rank = 0,
                         .index = 0,
                         .metric = std::string(metric),
                         .unit = "1",
                         .warmup = false,
                         .first = 0,
                         .values = {share}});
}

/// Runs `command` as the first process of its namespace, which reaps all others. Returns the exit code of `command`.
int run_to_end(const std::vector<std::string>& command) {
  const pid_t child = fork();
  if (child < 0) throw Error(ExitCode::environment, "no process can be started", "see ulimit -u");
  if (child == 0) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    inform("hbench: cannot start {}\n", command.front());
    _exit(kNoProgram);
  }
  for (int status = 0;;) {
    const pid_t ended = wait(&status);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) return 1;
  }
}

bool kept(const LinkShares& shares) { return shares.least >= 1 - kLinkTolerance && shares.most <= 1 + kLinkTolerance; }

/// Says how well the links keep their rates; throws where one does not.
void check(const EmulatedHosts& hosts, const EmulatedLinks& links) {
  // A short look at a machine that others may use: what fails is looked at again.
  constexpr int kLooks = 3;
  LinkShares shares = check_links(hosts, links);
  for (int look = 1; look < kLooks && !kept(shares); ++look) shares = check_links(hosts, links);
  say_share(metric::kLinkLeast, shares.least);
  say_share(metric::kLinkMost, shares.most);
  if (kept(shares)) return;
  throw Error(ExitCode::environment,
              fmt::format("the emulated links carry {:.1f} to {:.1f} % of their rate, and a run takes {:.0f} % at most",
                          100 * shares.least, 100 * shares.most, 100 * kLinkTolerance),
              shares.least < 1 - kLinkTolerance
                  ? "the processors are too busy or too few for it: give a larger --dilation"
                  : "this kernel does not hold the rate: give another --dilation");
}

/// `LINKS checked|unchecked COMMAND...`: in namespaces of its own (`emulated_launch.hpp`).
ExitCode run_inside(const Call& call) {
  if (getpid() != 1) throw internal_verb();
  const EmulatedLinks links = parse_emulated_links(call.arguments[0]);
  const EmulatedHosts hosts(links);
  try {
    if (call.arguments[1] == "checked") check(hosts, links);
  } catch (const Error& error) {
    print_line(FailureLine{0, static_cast<int>(error.code()), fmt::format("{}; {}", error.what(), error.hint())});
    throw;
  }
  std::fflush(stdout);
  return static_cast<ExitCode>(run_to_end({call.arguments.begin() + 2, call.arguments.end()}));
}

ExitCode run_emulate(const Call& call) {
  const std::vector<std::string>& words = call.arguments;
  if (words.size() < 3) throw internal_verb();
  if (words[0] == "enter") enter_emulated_host(words[1], {words.begin() + 2, words.end()});
  return run_inside(call);
}

}  // namespace

extern const Verb kEmulate;
constinit const Verb kEmulate{
    .name = "emulate",
    .summary = "hosts of an emulated cluster, and what runs on them; started by sweep --evidence emulated",
    .hidden = true,
    .run = run_emulate,
};

}  // namespace hbench
