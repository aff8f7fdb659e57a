#include "bench/command/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "bench/command/verb.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/text_table.hpp"

namespace hbench {
namespace {

std::string suggestion(const CLI::App& app, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string meant = nearest_name(flag.substr(0, flag.find('=')), known);
  return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

/// Flags that scripts of people may still have, and what does their work now; of any verb where none is named.
struct FormerFlag {
  std::string_view command, flag, now;
};
constexpr FormerFlag kFormerFlags[] = {{"hbench collective", "--csv", "--format csv"},
                                       {"hbench collective", "--output-file", "--out FILE.json"},
                                       {"hbench export", "--csv", "--format csv"},
                                       {"hbench list", "--markdown", "--format markdown"},
                                       {"hbench list", "--explain", "hbench list algorithms --ranks 32"},
                                       {"hbench list", "--workers", "--ranks"},
                                       {"hbench report", "--full", "--all"},
                                       {"hbench validate", "--collectives", "hbench validate collectives"},
                                       {"hbench validate", "--mlperf", "hbench validate mlperf"},
                                       {"hbench validate", "--methods", "hbench validate methods"},
                                       {"hbench validate", "--rates", "hbench validate rates"},
                                       {"", "--each", "--all"},
                                       {"hbench calibrate", "--profile-out", "it is beside the file of --out"},
                                       {"hbench import", "--expect", "hbench expect FILE --profile NAME"},
                                       {"hbench import", "--format", "--as"},
                                       {"hbench import-job", "--from", "--as"},
                                       {"hbench import-job", "--page", "--out FILE.html"},
                                       {"hbench import-job", "--title", "it is the name of the file of --out"},
                                       {"hbench sweep", "--emulated-launches", "--launches"},
                                       {"hbench track check", "--min-runs", "min_runs in hbench.toml"},
                                       {"hbench track check", "--max-runs", "max_runs in hbench.toml"}};

/// \throws Error (usage) that names what took its place, for a flag that there was.
void refuse_former(const std::string& command, std::string_view argument) {
  const std::string_view flag = argument.substr(0, argument.find('='));
  for (const FormerFlag& former : kFormerFlags)
    if (former.flag == flag && (former.command.empty() || former.command == command))
      throw Error(ExitCode::usage, fmt::format("there is no {} any more", flag), std::string(former.now));
}

/// CLI11's option behind ours.
class CliOption final : public Option {
 public:
  explicit CliOption(CLI::Option* option) : option_(option) {}
  Option* check(Check rule) override {
    choices_ = std::move(rule.choices);
    option_->check(CLI::Validator([refusal = std::move(rule.refusal)](std::string& text) { return refusal(text); },
                                  std::move(rule.in_help)));
    return this;
  }
  Option* needs(Option* other) override { return option_->needs(inner(other)), this; }
  Option* excludes(Option* other) override { return option_->excludes(inner(other)), this; }
  Option* writes() override { return writes_ = true, this; }
  /// \throws Error (usage) where this one writes the file that the other one names.
  void refuse_to_replace_file_of(const CliOption& other) const;
  OptionDescription description() const;
  bool positional() const { return option_->get_positional(); }

 private:
  /// Every Option is one of these.
  static CLI::Option* inner(Option* option) { return static_cast<CliOption*>(option)->option_; }
  CLI::Option* option_;
  std::vector<std::string> choices_;
  bool writes_ = false;
};

/// A new file too: its name may be written in two ways.
bool name_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code unknown;
  if (std::filesystem::exists(a, unknown))
    return std::filesystem::is_regular_file(a, unknown) && std::filesystem::equivalent(a, b, unknown);
  const auto whole = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown);
  };
  return !a.empty() && !b.empty() && whole(a) == whole(b);
}

void CliOption::refuse_to_replace_file_of(const CliOption& other) const {
  if (!writes_ || option_->empty() || option_->results().front() == "-") return;
  const std::filesystem::path file = option_->results().front();
  std::vector<std::string> values = other.option_->results();
  if (values.empty()) values.push_back(other.option_->get_default_str());
  for (std::istringstream items(values.front()); items.good();)  // of a comma list
    std::getline(items, values.emplace_back(), ',');
  for (const std::filesystem::path value : values) {
    std::error_code unknown;
    // Words that name no file, such as an algorithm, may be those of a new one.
    const bool is_file = other.writes_ || value.has_extension() || value.has_parent_path();
    if ((is_file || std::filesystem::exists(file, unknown)) && name_same_file(file, value))
      throw Error(ExitCode::usage,
                  fmt::format("{} {} would replace what {} {} names", option_->get_name(), file.string(),
                              other.option_->get_name(), value.string()),
                  fmt::format("name another file with {}", option_->get_name()));
  }
}

Check check_of(const CLI::Validator& rule) {
  return {[rule](const std::string& text) { return rule(text); }, rule.get_description()};
}

/// The text of an option with its range and its default behind it.
std::string explanation(const CLI::Option* option) {
  std::vector<std::string> facts;
  const std::string type = option->get_type_name();
  if (const std::size_t range = type.find(" in ["); range != type.npos) {
    const std::string bounds = type.substr(range + 5, type.size() - range - 6);  // 1 - 1000
    const std::size_t dash = bounds.find(" - ");
    facts.push_back(fmt::format("{} to {}", bounds.substr(0, dash), bounds.substr(dash + 3)));
  }
  if (!option->get_default_str().empty()) facts.push_back("default: " + option->get_default_str());
  std::string text = option->get_description();
  if (!facts.empty()) text += fmt::format(" ({})", fmt::join(facts, "; "));
  return text;
}

/// `TEXT` of `TEXT:{cpu,gpu}`; empty for a flag.
std::string value_name(const CLI::Option* option) {
  if (option->get_type_size() == 0) return {};
  const std::string type = option->get_type_name();
  return type.substr(0, type.find(':'));
}

OptionDescription CliOption::description() const {
  OptionDescription described{
      .names = {}, .value = value_name(option_), .choices = choices_, .help = explanation(option_)};
  if (positional()) described.names = {option_->get_name(true)};
  for (const std::string& name : option_->get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option_->get_lnames()) described.names.push_back("--" + name);
  return described;
}

/// Help in lines that a terminal of 80 columns shows whole; a rule and a default stand behind the text.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string value = is_positional ? "" : value_name(option);
    const std::string names = "  " + make_option_name(option, is_positional) + (value.empty() ? "" : " " + value);
    const std::string text = wrapped_text(explanation(option), kWidth - kTextColumn, 0);
    std::string lines = names.size() + 2 <= kTextColumn ? fmt::format("{:{}}", names, kTextColumn)
                                                        : fmt::format("{}\n{:{}}", names, "", kTextColumn);
    for (const char c : text) lines += c == '\n' ? fmt::format("\n{:{}}", "", kTextColumn) : std::string(1, c);
    return lines + '\n';
  }
  std::string make_description(const CLI::App* app) const override { return wrapped(app->get_description()); }
  std::string make_footer(const CLI::App* app) const override { return wrapped(app->get_footer()); }

 private:
  static constexpr std::size_t kWidth = 80, kTextColumn = 26;

  /// Lines that begin with a space are commands and tables, and stay as they are.
  static std::string wrapped(const std::string& text) {
    std::string lines;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      lines += (line.starts_with(' ') ? line : wrapped_text(line, kWidth)) + '\n';
      begin = end + 1;
    }
    return lines;
  }
};

/// CLI11 takes other notations, such as 0x10, and NaN lies in each of its ranges.
template <class Number>
Check range_of(Number smallest, Number largest) {
  Check rule = check_of(CLI::Range(smallest, largest));
  rule.refusal = [outside = std::move(rule.refusal)](const std::string& text) {
    const std::string why = outside(text);
    const std::optional<Number> number = parse_number<Number>(text);
    return why.empty() && (!number || *number != *number) ? fmt::format("'{}' is no number", text) : why;
  };
  return rule;
}

}  // namespace

Check in_range(int smallest, int largest) { return range_of(smallest, largest); }
Check in_range(double smallest, double largest) { return range_of(smallest, largest); }
Check one_of(std::vector<std::string> names) {
  Check rule = check_of(CLI::IsMember(names));
  rule.choices = std::move(names);
  return rule;
}

struct Arguments::State {
  CLI::App app;
  std::deque<CliOption> options;  // stays where it is when it grows: callers hold pointers
  std::vector<std::string>* others = nullptr;
  std::vector<std::function<void()>> unread;  ///< values, until all options are known to be right

  Option* keep(CLI::Option* option) { return &options.emplace_back(option); }

  void read_later(const std::function<void(const std::string&)>& read, const std::string& text) {
    unread.emplace_back([read, text] { read(text); });
  }
};

Arguments::Arguments(std::string description, std::string name)
    : state_(new State{CLI::App(std::move(description), std::move(name)), {}, nullptr, {}}) {
  state_->app.formatter(std::make_shared<HelpFormatter>());
  state_->app.get_help_ptr()->description("print this help and exit");
}

Arguments::~Arguments() = default;

void Arguments::footer(std::string text) { state_->app.footer(std::move(text)); }

template <class Value>
Option* Arguments::add_option(std::string names, Value& value, std::string help, Check rule) {
  CLI::Option* option = state_->app.add_option(std::move(names), value, std::move(help));
  if (value != Value()) option->capture_default_str();
  return rule.refusal ? state_->keep(option)->check(std::move(rule)) : state_->keep(option);
}
template Option* Arguments::add_option(std::string, std::string&, std::string, Check);
template Option* Arguments::add_option(std::string, std::optional<std::string>&, std::string, Check);
template Option* Arguments::add_option(std::string, std::filesystem::path&, std::string, Check);
template Option* Arguments::add_option(std::string, int&, std::string, Check);
template Option* Arguments::add_option(std::string, double&, std::string, Check);

Option* Arguments::add_option(std::string names, std::vector<std::string>& values, std::string help) {
  const bool positional = !names.starts_with('-');
  return state_->keep(state_->app.add_option(std::move(names), values, std::move(help))->allow_extra_args(positional));
}

Option* Arguments::add_list(std::string names, std::vector<std::string>& values, std::string help) {
  auto read = [&values, flag = flag_of(names)](const std::string& text) { values = split_list(text, flag); };
  return add_read(std::move(names), std::move(read), std::move(help), fmt::format("{}", fmt::join(values, ",")));
}

Option* Arguments::add_read(std::string names, std::function<void(const std::string& text)> read, std::string help,
                            std::string standard) {
  auto later = [state = state_.get(), read = std::move(read)](const std::string& text) {
    state->read_later(read, text);
  };
  CLI::Option* option =
      state_->app.add_option_function<std::string>(std::move(names), std::move(later), std::move(help));
  return state_->keep(option->default_str(std::move(standard)));
}

Option* Arguments::add_each(std::string names, std::function<void(const std::string& text)> read, std::string help) {
  auto later = [state = state_.get(), read = std::move(read)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) state->read_later(read, text);
  };
  return state_->keep(
      state_->app.add_option_function<std::vector<std::string>>(std::move(names), std::move(later), std::move(help))
          ->allow_extra_args(false));
}

std::string Arguments::flag_of(const std::string& names) { return names.substr(names.rfind(',') + 1); }

Option* Arguments::add_flag(std::string names, bool& value, std::string help) {
  return state_->keep(state_->app.add_flag(std::move(names), value, std::move(help)));
}

Option* Arguments::add_flag_callback(std::string names, std::function<void()> when_given, std::string help) {
  return state_->keep(state_->app.add_flag_callback(std::move(names), std::move(when_given), std::move(help)));
}

void Arguments::pass_on(std::vector<std::string>& others) {
  state_->others = &others;
  state_->app.allow_extras();
}

std::size_t Arguments::count(const std::string& name) const { return state_->app.count(name); }

std::string Arguments::help() const { return state_->app.help(); }

void Arguments::describe(CommandDescription& description) const {
  const CLI::App& app = state_->app;
  description.name = app.get_name();
  description.text = app.get_description();
  description.footer = app.get_footer();
  for (const CliOption& option : state_->options)
    (option.positional() ? description.positionals : description.options).push_back(option.description());
  description.options.push_back({.names = {"-h", "--help"}, .help = app.get_help_ptr()->get_description()});
}

bool Arguments::parse(const Call& call) {
  if (call.description != nullptr) return describe(*call.description), true;
  CLI::App& app = state_->app;
  // A script's unset variable must not come to mean the default.
  if (const auto empty = std::ranges::find(call.arguments, ""); empty != call.arguments.end())
    throw Error(ExitCode::usage,
                empty == call.arguments.begin() ? "the first argument is empty"
                                                : fmt::format("nothing is given after {}", *(empty - 1)),
                "give a value, or leave the option out for its default");
  std::vector<std::string> reversed(call.arguments.rbegin(), call.arguments.rend());
  try {
    app.parse(reversed);
    for (const CliOption& output : state_->options)
      for (const CliOption& other : state_->options)
        if (&other != &output) output.refuse_to_replace_file_of(other);
    for (const auto& read : std::exchange(state_->unread, {})) read();
    if (state_->others != nullptr) *state_->others = app.remaining();
    return false;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return true;
  } catch (const CLI::ExtrasError&) {
    for (const std::string& argument : app.remaining()) {
      refuse_former(app.get_name(), argument);
      throw Error(ExitCode::usage,
                  argument.starts_with('-') ? fmt::format("unknown option '{}'{}", argument, suggestion(app, argument))
                                            : fmt::format("unexpected argument '{}'", argument),
                  fmt::format("{} --help lists what there is", app.get_name()));
    }
    throw;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    const std::string flag = what.substr(0, what.find(':'));
    if (what.find("At Most") == std::string::npos)
      throw Error(ExitCode::usage, fmt::format("{} needs a value", flag),
                  fmt::format("{} --help explains every option", app.get_name()));
    throw Error(ExitCode::usage, fmt::format("{} is given more than once", flag),
                "give it once; where it takes several values, as a,b,c");
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    std::ranges::replace(what, '\n', ' ');
    throw Error(ExitCode::usage, what, fmt::format("{} --help explains every option", app.get_name()));
  }
}

ExitCode run_action(const Call& call, const ActionTexts& texts, std::span<const Action> actions) {
  if (!call.arguments.empty() && !call.arguments.front().starts_with('-')) {
    const auto action = std::ranges::find(actions, call.arguments.front(), &Action::name);
    if (action != actions.end())
      return action->run({.arguments = {call.arguments.begin() + 1, call.arguments.end()},
                          .command = call.command,
                          .description = call.description});
    std::vector<std::string_view> known;
    for (const Action& each : actions) known.push_back(each.name);
    throw unknown_name(texts.kind, call.arguments.front(), known);
  }
  Arguments app(std::string(texts.description), std::string(texts.verb));
  std::string footer = "Actions:\n";
  std::size_t width = 0;
  for (const Action& action : actions) width = std::max(width, action.name.size());
  for (const Action& action : actions) footer += fmt::format("  {:{}}  {}\n", action.name, width, action.summary);
  if (call.description != nullptr) {
    for (const Action& action : actions)
      call.description->actions.push_back({std::string(action.name), std::string(action.summary)});
    footer.clear();
  }
  app.footer(footer + std::string(texts.footer));
  if (app.parse(call)) return ExitCode::good;
  fmt::print("{}", app.help());
  return ExitCode::good;
}

}  // namespace hbench
