#include "bench/command/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "bench/command/program.hpp"

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

}  // namespace

std::string man_page(std::span<const Verb* const> verbs) {
  std::string out = heading("hbench", "measure, predict and explain how data-parallel training scales");
  out += ".SH SYNOPSIS\n\\fBhbench\\fR \\fIverb\\fR [options]\n.SH VERBS\n";
  for (const Verb* verb : verbs)
    if (!verb->hidden)
      out += fmt::format(".TP\n{}(1)\n{}\n", bold(fmt::format("hbench-{}", verb->name)), escaped(verb->summary));
  return out + ".SH EXIT STATUS\n" + escaped(kExitCodes);
}

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

}  // namespace hbench
