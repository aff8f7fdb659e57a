#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "bench/command/arguments.hpp"
#include "bench/command/suggestions.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/listing.hpp"

namespace hbench {
namespace {

/// A shell, and its script. Each asks `hbench complete-words` at every key, so that it knows what the program knows.
struct Shell {
  std::string_view name, script;
};

constexpr std::array kShells = {Shell{"bash", R"(# Completions of hbench for bash.
_hbench() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]}" complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o bashdefault -o default -F _hbench hbench
)"},
                                Shell{"zsh", R"(#compdef hbench
# Completions of hbench for zsh.
_hbench() {
  local line
  local -a found
  for line in "${(@f)$("${words[1]}" complete-words "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] && found+=("${line%%$'\t'*}")
  done
  if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] = _hbench ]]; then _hbench "$@"; else compdef _hbench hbench; fi
)"},
                                Shell{"fish", R"(# Completions of hbench for fish.
function __hbench_words
  set -l words (commandline -opc) (commandline -ct)
  $words[1] complete-words $words[2..-1] 2> /dev/null
end
complete -c hbench -a '(__hbench_words)'
)"}};

/// The first column of what `hbench list` prints, without the parameters of a name: `topk` of `topk:ratio (0.01)`.
std::vector<std::string> family_names(std::string_view family) {
  std::set<std::string> names;
  if (family == "lists")
    for (const Listing& each : listings()) names.emplace(each.name);
  if (family == "verbs")
    for (const Verb* each : verbs()) names.emplace(each->name);
  if (family == "collectives") names = {"all-reduce", "reduce-scatter", "all-gather", "broadcast"};
  const auto listing = std::ranges::find(listings(), family, &Listing::name);
  if (listing != listings().end())
    for (const auto& row : listing->table(load_data()).rows)
      names.insert(row[0].substr(0, row[0].find_first_of(" :(")));
  return {names.begin(), names.end()};
}

ExitCode run_completion(const Call& call) {
  std::string shell;
  Arguments app("Prints the completions of hbench for a shell: verbs, flags, and the names that they take.",
                "hbench completion");
  app.footer(
      "Examples:\n  hbench completion bash > hbench.bash\n  eval \"$(hbench completion bash)\"\n"
      "Lines for the start of a shell: in ~/.bashrc the second of these; in ~/.zshrc, after compinit, "
      "source <(hbench completion zsh); in fish's config.fish, hbench completion fish | source. An installation has "
      "them where the shells of Debian find them.");
  app.add_option("SHELL", shell, "bash, zsh or fish", one_of({"bash", "zsh", "fish"}));
  if (app.parse(call)) return ExitCode::good;
  if (shell.empty()) throw Error(ExitCode::usage, "no shell is named", "hbench completion bash|zsh|fish");
  fmt::print("{}", std::ranges::find(kShells, shell, &Shell::name)->script);
  return ExitCode::good;
}

/// Its words are those of a shell, of which the last one may be empty: Arguments would refuse that.
ExitCode run_complete_words(const Call& call) {
  for (const Suggestion& each : suggestions(call.arguments, verbs(), family_names))
    fmt::print("{}\t{}\n", each.word, each.help);
  return ExitCode::good;
}

}  // namespace

extern const Verb kCompletion, kCompleteWords;
constinit const Verb kCompletion{
    .name = "completion", .summary = "print completions for bash, zsh or fish", .run = run_completion};
constinit const Verb kCompleteWords{.name = "complete-words",
                                    .summary = "what a shell offers for the last of these words",
                                    .hidden = true,
                                    .run = run_complete_words};

}  // namespace hbench
