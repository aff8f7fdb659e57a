#include "bench/command/program.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "bench/command/command_line.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/text_table.hpp"

namespace hbench {
namespace {

/// As a shell has it when the signal for that ends a program, which may be ignored.
constexpr int kClosedOutputExit = 141;

void print_help(std::span<const Verb* const> verbs) {
  fmt::print(
      "hbench measures, predicts and explains how data-parallel training scales.\n\nUsage: hbench <verb> "
      "[options]\n\n");
  for (const Verb* verb : verbs)
    if (!verb->hidden) fmt::print("  {:10} {}\n", verb->name, verb->summary);
  fmt::print("\nStart with: hbench sweep --gpus 1..128\nEach verb explains itself: hbench help <verb>\n\n{}",
             kExitCodes);
}

std::vector<std::string_view> visible(std::span<const Verb* const> verbs) {
  std::vector<std::string_view> names;
  for (const Verb* verb : verbs)
    if (!verb->hidden) names.push_back(verb->name);
  return names;
}

/// Verbs that scripts of people may still have, and what does their work now.
constexpr std::pair<std::string_view, std::string_view> kFormerVerbs[] = {
    {"tune", "hbench sweep --fusion usual"}, {"crossover", "hbench bandwidth --strategies"}};

const Verb& find_verb(std::span<const Verb* const> verbs, std::string_view name) {
  for (const Verb* verb : verbs)
    if (verb->name == name) return *verb;
  for (const auto& [former, now] : kFormerVerbs)
    if (name == former)
      throw Error(ExitCode::usage, fmt::format("there is no verb '{}' any more", name), std::string(now));
  throw unknown_name("verb", name, visible(verbs));
}

bool asks_for_help(const Call& call) {
  return std::ranges::any_of(call.arguments, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

/// Under a launcher a verb that starts ranks would do so as often as the launcher starts it. One process says so; the
/// others end well and in silence, as a launcher may kill all others once one has failed.
ExitCode refuse_among_ranks(const Verb& verb, const StartedRanks& started) {
  if (started.rank > 0) return ExitCode::good;
  throw Error(ExitCode::usage,
              fmt::format("{}={}: a launcher has started hbench {} {} times", started.variable, started.ranks,
                          verb.name, started.ranks),
              "run it once, without mpirun, srun or torchrun: it starts its ranks itself");
}

ExitCode run(int argc, char** argv, std::span<const Verb* const> verbs, std::string_view version, Leave leave) {
  std::vector<std::string> words(argv + 1, argv + argc);
  // `help track run` is `track run --help`.
  if (words.size() > 1 && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const std::string first = words.empty() ? "help" : words.front();
  if (first == "--help" || first == "-h" || first == "help") return print_help(verbs), ExitCode::good;
  if (first == "--version") return fmt::print("{}", version), ExitCode::good;
  const Call call{{words.begin() + 1, words.end()}, "hbench " + without_secrets(words)};
  const Verb& verb = find_verb(verbs, first);
  if (verb.starts_ranks && !asks_for_help(call))
    if (const StartedRanks started = find_started_ranks(); started.ranks > 1) return refuse_among_ranks(verb, started);
  const Libraries needed = verb.libraries == nullptr ? Libraries::none : verb.libraries(call);
  if (leave != nullptr && needed != Libraries::none && !asks_for_help(call)) leave(needed, {argv, argv + argc});
  return verb.run(call);
}

/// Returns whether an error is that of writing to a pager or to `head` that has ended: nobody is left to read it.
bool is_closed_output(const std::system_error& error) {
  return error.code() == std::errc::broken_pipe && (std::ferror(stdout) != 0 || std::ferror(stderr) != 0);
}

/// Does not throw, whatever has become of standard error.
void complain(const std::string& message, const std::string& hint = {}) {
  std::fflush(stdout);
  inform("{}\n", for_people("hbench: " + message, 2));
  if (!hint.empty()) inform("  {}\n", for_people(hint, 2));
}

}  // namespace

std::size_t terminal_width(int file) {
  constexpr std::size_t kLeast = 40;
  if (const char* given = std::getenv("COLUMNS"); given != nullptr)
    if (const auto columns = parse_number<int>(given); columns && *columns > 0)
      return std::max(static_cast<std::size_t>(*columns), kLeast);
  if (isatty(file) == 0) return kAnyWidth;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return std::max<std::size_t>(size.ws_col, kLeast);
}

std::string for_people(std::string_view line, std::size_t indent) {
  std::string text;
  for (const std::string_view each : lines_of(line)) text += (text.empty() ? "" : "\n") + one_line(each);
  return isatty(STDERR_FILENO) == 0 ? text : wrapped_text(text, terminal_width(STDERR_FILENO), indent);
}

StartedRanks find_started_ranks() {
  const bool in_terminal = std::getenv("SLURM_PTY_PORT") != nullptr;
  // Pods of a PyTorchJob have no local rank.
  const bool by_torchrun = std::getenv("LOCAL_RANK") != nullptr;
  for (const auto& [of_ranks, of_rank] : {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                          {"PMI_SIZE", "PMI_RANK"},
                                          {"HOROVOD_SIZE", "HOROVOD_RANK"},
                                          {"WORLD_SIZE", by_torchrun ? "RANK" : ""},
                                          {"SLURM_STEP_NUM_TASKS", in_terminal ? "" : "SLURM_PROCID"}}) {
    const char *const ranks = std::getenv(of_ranks), *const rank = std::getenv(of_rank);
    if (ranks != nullptr && rank != nullptr) return {std::atoi(ranks), std::atoi(rank), of_ranks};
  }
  // PMIx tells the rank alone; the number of ranks is MPI's to say.
  return {};
}

int run_program(int argc, char** argv, std::span<const Verb* const> verbs, std::string_view version, Leave leave) {
  // A limit on the size of files (ulimit -f) is an error of who writes, and no signal that ends us.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const ExitCode code = run(argc, argv, verbs, version, leave);
    // What is printed last may still fail: on a full disk, say, or when a pager has gone.
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return static_cast<int>(code);
  } catch (const Error& error) {
    complain(error.what(), error.hint());
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    if (is_closed_output(error)) return kClosedOutputExit;
    complain(fmt::format("cannot read or write: {}", error.what()));
    return static_cast<int>(ExitCode::environment);
  } catch (const std::bad_alloc&) {
    complain("out of memory", "ask for less at a time: fewer GPUs, ranks, servers or rows");
    return static_cast<int>(ExitCode::environment);
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace hbench
