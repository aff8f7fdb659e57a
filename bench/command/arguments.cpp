#include "bench/command/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "collectives/base/table.hpp"

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

/// CLI11's option behind ours.
class CliOption final : public Option {
 public:
  explicit CliOption(CLI::Option* option) : option_(option) {}
  Option* check(Check rule) override {
    option_->check(CLI::Validator([refusal = std::move(rule.refusal)](std::string& text) { return refusal(text); },
                                  std::move(rule.in_help)));
    return this;
  }
  Option* needs(Option* other) override { return option_->needs(inner(other)), this; }
  Option* excludes(Option* other) override { return option_->excludes(inner(other)), this; }
  Option* capture_default_str() override { return option_->capture_default_str(), this; }

 private:
  /// Every Option is one of these.
  static CLI::Option* inner(Option* option) { return static_cast<CliOption*>(option)->option_; }
  CLI::Option* option_;
};

Check check_of(const CLI::Validator& rule) {
  return {[rule](const std::string& text) { return rule(text); }, rule.get_description()};
}

}  // namespace

Check in_range(int smallest, int largest) { return check_of(CLI::Range(smallest, largest)); }
Check in_range(double smallest, double largest) { return check_of(CLI::Range(smallest, largest)); }
Check one_of(std::vector<std::string> names) { return check_of(CLI::IsMember(std::move(names))); }

struct Arguments::State {
  CLI::App app;
  std::deque<CliOption> options;  // stays where it is when it grows: callers hold pointers

  Option* keep(CLI::Option* option) { return &options.emplace_back(option); }
};

Arguments::Arguments(std::string description, std::string name)
    : state_(new State{CLI::App(std::move(description), std::move(name)), {}}) {}

Arguments::~Arguments() = default;

void Arguments::footer(std::string text) { state_->app.footer(std::move(text)); }

Option* Arguments::add_option(std::string names, std::string& value, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), value, std::move(help)));
}

Option* Arguments::add_option(std::string names, std::optional<std::string>& value, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), value, std::move(help)));
}

Option* Arguments::add_option(std::string names, std::filesystem::path& value, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), value, std::move(help)));
}

Option* Arguments::add_option(std::string names, int& value, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), value, std::move(help)));
}

Option* Arguments::add_option(std::string names, double& value, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), value, std::move(help)));
}

Option* Arguments::add_option(std::string names, std::vector<std::string>& values, std::string help) {
  return state_->keep(state_->app.add_option(std::move(names), values, std::move(help))->allow_extra_args(false));
}

Option* Arguments::add_flag(std::string names, bool& value, std::string help) {
  return state_->keep(state_->app.add_flag(std::move(names), value, std::move(help)));
}

Option* Arguments::add_flag_callback(std::string names, std::function<void()> when_given, std::string help) {
  return state_->keep(state_->app.add_flag_callback(std::move(names), std::move(when_given), std::move(help)));
}

std::size_t Arguments::count(const std::string& name) const { return state_->app.count(name); }

std::string Arguments::help() const { return state_->app.help(); }

bool Arguments::parse(const Call& call) {
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
    return false;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return true;
  } catch (const CLI::ExtrasError&) {
    for (const std::string& argument : app.remaining())
      throw Error(ExitCode::usage,
                  argument.starts_with('-') ? fmt::format("unknown option '{}'{}", argument, suggestion(app, argument))
                                            : fmt::format("unexpected argument '{}'", argument),
                  fmt::format("{} --help lists what there is", app.get_name()));
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

std::vector<std::string> split_list(std::string_view text, std::string_view flag) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, comma - begin));
    if (items.back().empty())
      throw Error(ExitCode::usage, fmt::format("{} '{}' has an empty item", flag, text), "write a,b,c without spaces");
    begin = comma + 1;
  }
  return items;
}

}  // namespace hbench
