#pragma once

/// The command line of one verb: its options and their rules. A facade of CLI11, whose headers only `arguments.cpp`
/// includes, because they take seconds to compile. One clear line for a mistake, a suggestion, exit code 2.
///
///     Arguments arguments("Prints every stored point for machines.", "hbench export");
///     Option* json = arguments.add_flag("--json", as_json, "an array of objects");
///     arguments.add_flag("--wide", wide, "all columns")->excludes(json);
///     arguments.add_option("--steps", steps, "timed steps", in_range(1, 1000));
///     arguments.add_parsed("--budget", budget, time_flag, "time for the timed steps", "1 s");
///     if (arguments.parse(call)) return ExitCode::good;  // help was printed

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bench/command/verb.hpp"

namespace hbench {

/// A rule for the text of a value, and how help writes it. By default none.
struct Check {
  /// Why the text is refused; empty when it is not.
  std::function<std::string(const std::string& text)> refusal = {};
  std::string in_help = {};
  std::vector<std::string> choices = {};  ///< all texts that it allows, where they are few
};

/// A number from `smallest` to `largest`, which are both allowed. Whole numbers where the bounds are.
Check in_range(int smallest, int largest);
Check in_range(double smallest, double largest);
/// One of `names`.
Check one_of(std::vector<std::string> names);

/// One option or flag; belongs to its Arguments.
class Option {
 public:
  virtual ~Option() = default;
  /// Refused where the text of the value breaks the rule, one more than that of `add_option`.
  virtual Option* check(Check rule) = 0;
  /// Refused when `other` is not given too.
  virtual Option* needs(Option* other) = 0;
  /// Refused beside `other`.
  virtual Option* excludes(Option* other) = 0;
  /// Its value names a file that is written: refused where another value of the command line, or its default, names
  /// the same file, which would be lost.
  virtual Option* writes() = 0;
};

class Arguments {
 public:
  /// \param name of the command in help and hints, such as `hbench export`.
  Arguments(std::string description, std::string name);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// What help prints below the options.
  void footer(std::string text);

  /// `names`: `-b,--minbytes`, or a word without dashes for a positional argument. `value` outlives `parse`, which
  /// sets it when the option is given; what it has now is the default that help shows, unless that is empty or 0. The
  /// pointer is valid as long as the Arguments are.
  /// `Value` is std::string, std::optional of it, std::filesystem::path, int or double.
  template <class Value>
  Option* add_option(std::string names, Value& value, std::string help, Check rule = {});
  /// May be given more than once, with one value each time; a positional argument takes all words that are left.
  Option* add_option(std::string names, std::vector<std::string>& values, std::string help);
  /// A comma list, given once. Help shows what `values` has now.
  Option* add_list(std::string names, std::vector<std::string>& values, std::string help);
  /// `parse` calls `read` with the text once all options are known. `standard` is the default that help shows.
  Option* add_read(std::string names, std::function<void(const std::string& text)> read, std::string help,
                   std::string standard = {});
  /// May be given more than once; `parse` then calls `read` with each text.
  Option* add_each(std::string names, std::function<void(const std::string& text)> read, std::string help);
  /// A value that is more than its text: what `to_value` makes of the text, or of the text and the option's name. It is
  /// that of `standard` where the option is not given, and stays as it is without one.
  template <class Value, class Parse>
  Option* add_parsed(std::string names, Value& value, Parse to_value, std::string help, std::string standard = {}) {
    auto read = [&value, to_value, flag = flag_of(names)](const std::string& text) {
      if constexpr (std::is_invocable_v<Parse, const std::string&, const std::string&>)
        value = to_value(text, flag);
      else
        value = to_value(text);
    };
    if (!standard.empty()) read(standard);
    return add_read(std::move(names), std::move(read), std::move(help), std::move(standard));
  }
  Option* add_flag(std::string names, bool& value, std::string help);
  Option* add_flag_callback(std::string names, std::function<void()> when_given, std::string help);
  /// Arguments that no option takes are another verb's: `parse` puts them there, in their order, and refuses none.
  void pass_on(std::vector<std::string>& others);

  /// Sets the variables from `call.arguments`. True when help was asked for and printed, or a description was.
  /// \throws Error (usage).
  bool parse(const Call& call);
  /// How often an option was given; after `parse`.
  std::size_t count(const std::string& name) const;
  std::string help() const;

 private:
  /// `--minbytes` of `-b,--minbytes`.
  static std::string flag_of(const std::string& names);
  void describe(CommandDescription& description) const;

  struct State;
  std::unique_ptr<State> state_;
};

/// One thing that a verb with several actions does, the first argument: `hbench profile diff`, `hbench db merge`.
struct Action {
  std::string_view name, summary;
  /// Gets the arguments after the action's name.
  ExitCode (*run)(const Call& call);
};

/// What help says of the verb, and errors of its actions.
struct ActionTexts {
  std::string_view verb;         ///< `hbench profile`
  std::string_view description;  ///< one sentence
  std::string_view kind;         ///< `action on profiles`, for `no <kind> 'dif'; did you mean 'diff'?`
  std::string_view footer;       ///< below the list of actions
};

/// Runs the action that the first argument names; prints help where there is none. \throws Error (usage) for another.
ExitCode run_action(const Call& call, const ActionTexts& texts, std::span<const Action> actions);

}  // namespace hbench
