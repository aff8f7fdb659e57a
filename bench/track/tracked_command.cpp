#include "bench/track/tracked_command.hpp"

#include <algorithm>

#include "bench/command/common_options.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

std::optional<TrackedCommand> parse_tracked_command(const ExperimentCall& call) {
  TrackedCommand command{.name = call.name,
                         .build = {.name = call.place + ": build", .folder = call.folder},
                         .run = {.name = call.place + ": run", .folder = call.folder}};
  Arguments app("A program of the project, and how what it prints is read.", "[[command]]");
  app.add_option("--run", command.run.text, "a shell's command that prints what hbench import reads, or a number");
  add_build(app, command.build.text, "a shell's command before the first launch of a run");
  add_timeout(app, command.timeout, "stop a launch that takes longer, and a build that prints nothing for so long",
              "600 s");
  command.pattern.add_options(app);
  if (app.parse(call)) return std::nullopt;
  if (trimmed(command.run.text).empty())
    throw Error(ExitCode::usage, "a command without 'run'", "add such as run = \"./my_benchmark --json\"");
  command.pattern.apply(call.name, command.run);
  return command;
}

std::optional<TrackedCommand> command_of(const Project& project, const std::string& case_name) {
  std::vector<const ExperimentEntry*> commands;
  for (const ExperimentEntry& entry : project.experiments)
    if (entry.kind->name == kCommandKind) commands.push_back(&entry);
  const auto named = std::ranges::find_if(commands, [&](const ExperimentEntry* each) {
    return case_name == each->name || case_name.starts_with(each->name + " ");
  });
  if (named == commands.end() && commands.size() != 1) return std::nullopt;
  const ExperimentEntry& found = named == commands.end() ? *commands.front() : **named;
  return parse_tracked_command(found.call(project.file.parent_path()));
}

}  // namespace hbench
