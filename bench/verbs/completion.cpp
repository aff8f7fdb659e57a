#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>

#include "bench/command/arguments.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/listing.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// Text that roff prints as it is: a dash that can be copied, and no line that begins a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }

std::string heading(std::string_view name, std::string_view summary) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"hbench {}\" \"hbench\"\n.SH NAME\n{} \\- {}\n", escaped(upper), HBENCH_VERSION,
                     escaped(name), escaped(summary));
}

std::string option_text(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty() && option.names.front().starts_with('-')) names += fmt::format(" \\fI{}\\fR", option.value);
  return fmt::format(".TP\n{}\n{}\n", names, escaped(option.help));
}

/// The footer of help: indented lines are commands and tables and stay as they are, a line with a colon is a title.
std::string footer_text(std::string_view footer) {
  std::string out;
  bool literal = false;
  for (std::size_t begin = 0; begin < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', begin), footer.size());
    const std::string_view line = footer.substr(begin, end - begin);
    const bool indented = line.starts_with(' ');
    if (indented != literal) out += indented ? ".PP\n.nf\n" : ".fi\n";
    if (!indented) out += ".PP\n";
    out += escaped(line) + '\n';
    literal = indented;
    begin = end + 1;
  }
  return out + (literal ? ".fi\n" : "");
}

std::string command_text(const CommandDescription& command, std::string_view section) {
  std::string out = fmt::format("{} DESCRIPTION\n{}\n", section, escaped(command.text));
  if (!command.positionals.empty()) out += fmt::format("{} ARGUMENTS\n", section);
  for (const OptionDescription& option : command.positionals) out += option_text(option);
  out += fmt::format("{} OPTIONS\n", section);
  for (const OptionDescription& option : command.options) out += option_text(option);
  return out + fmt::format("{} EXAMPLES AND NOTES\n", section) + footer_text(command.footer);
}

std::string synopsis(const CommandDescription& command) {
  std::string out = fmt::format(".SH SYNOPSIS\n{} [options]", bold(command.name));
  for (const OptionDescription& option : command.positionals) out += fmt::format(" [\\fI{}\\fR]", option.names.front());
  return out + (command.actions.empty() ? "\n" : " \\fIaction\\fR ...\n");
}

/// hbench(1) in the language of man(7): the verbs, and the exit codes.
std::string man_page(std::span<const Verb* const> verbs) {
  std::string out = heading("hbench", "measure, predict and explain how data-parallel training scales");
  out += ".SH SYNOPSIS\n\\fBhbench\\fR \\fIverb\\fR [options]\n.SH VERBS\n";
  for (const Verb* verb : verbs)
    if (!verb->hidden)
      out += fmt::format(".TP\n{}(1)\n{}\n", bold(fmt::format("hbench-{}", verb->name)), escaped(verb->summary));
  return out + ".SH EXIT STATUS\n" + escaped(kExitCodes);
}

/// hbench-VERB(1): what `--help` prints of the verb and of its actions, with their examples.
std::string man_page(const Verb& verb) {
  const CommandDescription command = describe(verb, {});
  std::string out = heading(fmt::format("hbench-{}", verb.name), verb.summary) + synopsis(command);
  out += command_text(command, ".SH");
  for (const ActionDescription& action : command.actions) {
    const CommandDescription described = describe(verb, {action.name});
    std::string title = described.name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    out += fmt::format(".SH {}\n{}\n", escaped(title), escaped(action.summary)) + command_text(described, ".SS");
  }
  return out + ".SH SEE ALSO\n\\fBhbench\\fR(1)\n";
}

void write_pages(const std::filesystem::path& folder) {
  write_whole(folder / "hbench.1", man_page(verbs()), "--folder");
  for (const Verb* verb : verbs())
    write_whole(folder / fmt::format("hbench-{}.1", verb->name), man_page(*verb), "--folder");
}

ExitCode run_man(const Call& call) {
  std::string verb;
  std::filesystem::path folder;
  Arguments app("Prints the manual page of hbench or of a verb, in the language of man(7).", "hbench man");
  app.footer(
      "Examples:\n  hbench man sweep > hbench-sweep.1\n  hbench man --folder .\n"
      "man -l FILE shows a page. An installation has them in share/man.");
  Option* one = app.add_option("VERB", verb, "the verb (default: hbench itself)");
  app.add_option("--folder", folder, "write all pages into this folder, which exists")->excludes(one);
  if (app.parse(call)) return ExitCode::good;
  if (!folder.empty())
    write_pages(folder);
  else
    fmt::print("{}", verb.empty() ? man_page(verbs()) : man_page(find_entry(verbs(), verb, "verb")));
  return ExitCode::good;
}

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

/// What a shell offers for the word that is being typed.
struct Suggestion {
  std::string word, help;
};

/// The first column of what `hbench list` prints, without the parameters of a name: `topk` of `topk:ratio (0.01)`.
std::vector<std::string> family_names(std::string_view family) {
  std::set<std::string> names;
  if (family == "lists")
    for (const Listing& each : listings()) names.emplace(each.name);
  if (family == "verbs")
    for (const Verb* each : verbs()) names.emplace(each->name);
  if (family == "collectives") names = {"all-reduce", "reduce-scatter", "all-gather", "broadcast"};
  if (family == "devices") names = {"cpu", "gpu"};
  const auto listing = std::ranges::find(listings(), family, &Listing::name);
  if (listing != listings().end())
    for (const auto& row : listing->table(load_data()).rows)
      names.insert(row[0].substr(0, row[0].find_first_of(" :(")));
  return {names.begin(), names.end()};
}

/// Whose names an option or a positional argument takes; of one command only where it is named.
struct Family {
  std::string_view command, option, family;
};

constexpr std::array kFamilies = {
    Family{"", "--workload", "workloads"},
    Family{"", "--profile", "profiles"},
    Family{"", "--network", "profiles"},
    Family{"", "--algorithm", "algorithms"},
    Family{"", "--compressor", "compressors"},
    Family{"", "--fusion", "fusion"},
    Family{"", "--placement", "placements"},
    Family{"", "--preset", "presets"},
    Family{"", "--method", "methods"},
    Family{"", "--optimizer", "optimizers"},
    Family{"", "--device", "devices"},
    Family{"", "--executor", "executors"},
    Family{"", "--engine", "engines"},
    Family{"", "--model", "models"},
    Family{"hbench import", "--as", "imports"},
    Family{"hbench report", "--format", "formats"},
    Family{"hbench report", "name", "reports"},
    Family{"hbench list", "list", "lists"},
    Family{"hbench compare", "comparison", "comparisons"},
    Family{"hbench collective", "collective", "collectives"},
    Family{"hbench profile diff", "A", "profiles"},
    Family{"hbench profile diff", "B", "profiles"},
    Family{"hbench man", "VERB", "verbs"},
};

/// What is being typed: `current`, the value of `option` where that is not empty. `prefix` is kept before each answer.
struct Typed {
  std::string option, current, prefix;
};

/// Takes the last word off. bash cuts `--flag=value` into three words, other shells do not.
Typed take_last(std::vector<std::string>& words) {
  if (words.back() == "=") words.emplace_back();
  std::erase(words, "=");
  Typed typed{.option = {}, .current = words.back()};
  words.pop_back();
  if (const std::size_t equals = typed.current.find('=');
      typed.current.starts_with("--") && equals != std::string::npos)
    return {typed.current.substr(0, equals), typed.current.substr(equals + 1), typed.current.substr(0, equals + 1)};
  if (!words.empty() && words.back().starts_with('-')) typed.option = words.back();
  return typed;
}

void keep_beginning_with(std::vector<Suggestion>& found, std::string_view beginning) {
  std::erase_if(found, [&](const Suggestion& each) { return !each.word.starts_with(beginning); });
}

/// The values of an option or a positional argument, of which a comma list takes several.
std::vector<Suggestion> values(const CommandDescription& command, const OptionDescription& option, const Typed& typed) {
  std::vector<std::string> names = option.choices;
  for (const Family& each : kFamilies)
    if ((each.command.empty() || each.command == command.name) &&
        std::ranges::find(option.names, each.option) != option.names.end())
      names = family_names(each.family);
  const std::size_t comma = typed.current.rfind(',');
  const std::string before = comma == std::string::npos ? "" : typed.current.substr(0, comma + 1);
  std::vector<Suggestion> found;
  for (const std::string& name : names) found.push_back({typed.prefix + before + name, {}});
  keep_beginning_with(found, typed.prefix + typed.current);
  return found;
}

std::vector<Suggestion> flags(const CommandDescription& command, const Typed& typed) {
  std::vector<Suggestion> found;
  for (const OptionDescription& option : command.options) found.push_back({option.names.back(), option.help});
  keep_beginning_with(found, typed.current);
  return found;
}

std::vector<Suggestion> verb_names(std::string_view beginning) {
  std::vector<Suggestion> found;
  for (const Verb* verb : verbs())
    if (!verb->hidden) found.push_back({std::string(verb->name), std::string(verb->summary)});
  found.push_back({"help", "explain a verb"});
  keep_beginning_with(found, beginning);
  return found;
}

/// `words` are those after `hbench`; the last one is being typed, and may be empty. Empty where a file may stand, or
/// nothing is known. \throws Error (usage) for words that name no verb, action or engine.
std::vector<Suggestion> suggestions(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help" && words.size() > 1) words.erase(words.begin());
  if (words.empty()) words.emplace_back();
  const Typed typed = take_last(words);
  if (words.empty()) return verb_names(typed.current);
  const auto verb = std::ranges::find(verbs(), words.front(), &Verb::name);
  if (verb == verbs().end()) return {};
  const CommandDescription command = describe(**verb, {words.begin() + 1, words.end()});
  for (const OptionDescription& option : command.options)
    if (!option.value.empty() && std::ranges::find(option.names, typed.option) != option.names.end())
      return values(command, option, typed);
  if (typed.current.starts_with('-')) return flags(command, typed);
  std::vector<Suggestion> found;
  for (const ActionDescription& action : command.actions) found.push_back({action.name, action.summary});
  keep_beginning_with(found, typed.current);
  if (!command.positionals.empty()) return values(command, command.positionals.front(), typed);
  return found;
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
  for (const Suggestion& each : suggestions(call.arguments)) fmt::print("{}\t{}\n", each.word, each.help);
  return ExitCode::good;
}

}  // namespace

extern const Verb kMan;
constinit const Verb kMan{.name = "man", .summary = "print manual pages", .hidden = true, .run = run_man};

extern const Verb kCompletion, kCompleteWords;
constinit const Verb kCompletion{
    .name = "completion", .summary = "print completions for bash, zsh or fish", .hidden = true, .run = run_completion};
constinit const Verb kCompleteWords{.name = "complete-words",
                                    .summary = "what a shell offers for the last of these words",
                                    .hidden = true,
                                    .run = run_complete_words};

}  // namespace hbench
