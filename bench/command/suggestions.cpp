#include "bench/command/suggestions.hpp"

#include <algorithm>
#include <array>

#include "bench/command/description.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

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
    Family{"", "--executor", "executors"},
    Family{"", "--engine", "engines"},
    Family{"", "--model", "models"},
    Family{"hbench import", "--format", "imports"},
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
  Typed typed{.option = {}, .current = words.back(), .prefix = {}};
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
std::vector<Suggestion> values(const CommandDescription& command, const OptionDescription& option, const Typed& typed,
                               const NamesOf& names_of) {
  std::vector<std::string> names = option.choices;
  for (const Family& each : kFamilies)
    if ((each.command.empty() || each.command == command.name) &&
        std::ranges::find(option.names, each.option) != option.names.end())
      names = names_of(each.family);
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

std::vector<Suggestion> verb_names(std::span<const Verb* const> verbs, std::string_view beginning) {
  std::vector<Suggestion> found;
  for (const Verb* verb : verbs)
    if (!verb->hidden) found.push_back({std::string(verb->name), std::string(verb->summary)});
  found.push_back({"help", "explain a verb"});
  keep_beginning_with(found, beginning);
  return found;
}

}  // namespace

std::vector<Suggestion> suggestions(std::vector<std::string> words, std::span<const Verb* const> verbs,
                                    const NamesOf& names_of) {
  if (!words.empty() && words.front() == "help" && words.size() > 1) words.erase(words.begin());
  if (words.empty()) words.emplace_back();
  const Typed typed = take_last(words);
  if (words.empty()) return verb_names(verbs, typed.current);
  const auto verb = std::ranges::find(verbs, words.front(), &Verb::name);
  if (verb == verbs.end()) return {};
  const CommandDescription command = describe(**verb, {words.begin() + 1, words.end()});
  for (const OptionDescription& option : command.options)
    if (!option.value.empty() && std::ranges::find(option.names, typed.option) != option.names.end())
      return values(command, option, typed, names_of);
  if (typed.current.starts_with('-')) return flags(command, typed);
  std::vector<Suggestion> found;
  for (const ActionDescription& action : command.actions) found.push_back({action.name, action.summary});
  keep_beginning_with(found, typed.current);
  if (!command.positionals.empty()) return values(command, command.positionals.front(), typed, names_of);
  return found;
}

}  // namespace hbench
