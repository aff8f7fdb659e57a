#include "bench/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

bool parse_arguments(CLI::App& app, const Call& call) {
  std::vector<std::string> reversed(call.arguments.rbegin(), call.arguments.rend());
  try {
    app.parse(reversed);
    return false;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return true;
  } catch (const CLI::ExtrasError&) {
    for (const std::string& argument : app.remaining())
      throw Error(ExitCode::usage, fmt::format("unknown option '{}'{}", argument, suggestion(app, argument)),
                  fmt::format("{} --help lists them all", app.get_name()));
    throw;
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
