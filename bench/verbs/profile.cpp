#include <fmt/format.h>

#include <array>
#include <chrono>

#include "analysis/catalogue/check.hpp"
#include "bench/command/actions.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/terminal.hpp"
#include "bench/verbs/profile_init.hpp"
#include "reports/prediction/profile_difference.hpp"

namespace hbench {
namespace {

ExitCode run_diff(const Call& call) {
  std::string a, b;
  bool all = false, json = false, wide = false;
  Arguments app(
      "Shows two cluster profiles side by side: the figures that differ, how many times the second is the first, and "
      "where each is from.",
      "hbench profile diff");
  app.footer(
      "Examples:\n  hbench profile diff aws-p3-25gbe aws-p3dn-tcp\n  hbench profile diff dgx-a100 ./my-cluster.toml "
      "--all\n"
      "What is derived comes first: rates per path, node and GPU, and the price of a GPU-hour. Ratios are given "
      "between quantities of one kind only, and between prices in one currency.\nNames: hbench list profiles");
  app.add_option("A", a, "a profile, or a TOML file of your own");
  app.add_option("B", b, "what it is compared with");
  app.add_flag("--all", all, "also figures that are the same");
  app.add_flag("--json", json, "as JSON")->excludes(app.add_flag("--wide", wide, kWideHelp));
  if (app.parse(call)) return ExitCode::good;
  if (a.empty() || b.empty())
    throw Error(ExitCode::usage, "two profiles are needed", "hbench profile diff aws-p3-25gbe aws-p3dn-tcp");
  const Data data = load_data();
  const Profile left = data.profiles.load(a), right = data.profiles.load(b);
  fmt::print("{}",
             json ? difference_json(left, right, all) : terminal_text(difference_document(left, right, all), wide));
  return ExitCode::good;
}

ExitCode run_check(const Call& call) {
  std::string name;
  bool json = false;
  Arguments app(
      "Reads a cluster profile and questions its figures: links and NICs faster than this GPU and its bus allow, bits "
      "taken for bytes, streams faster than their NICs, missing rates, old prices, figures that nobody states.",
      "hbench profile check");
  app.footer(
      "Examples:\n  hbench profile check ./my-cluster.toml\n  hbench profile check aws-p5 --json\n"
      "A line for each finding: the file and line, how bad it is, and what. An error cannot be true, a warning makes "
      "predictions doubtful, a note should be known.\n"
      "Exit code: 0 without errors, 4 with errors, 2 for a file that is no profile.");
  app.add_option("FILE", name, "a TOML file of your own, or the name of a profile");
  app.add_flag("--json", json, "as JSON");
  if (app.parse(call)) return ExitCode::good;
  if (name.empty()) throw Error(ExitCode::usage, "no profile to check", "hbench profile check ./my-cluster.toml");
  const Profile profile = load_data().profiles.load(name);
  const std::string file = is_file_name(name) ? name : name + ".toml";
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::vector<ProfileFinding> findings = check_profile(profile, file, today);
  const auto count = [&](Severity severity) {
    return std::ranges::count(findings, severity, &ProfileFinding::severity);
  };
  if (json)
    fmt::print("{}", findings_json(findings));
  else
    fmt::print("{}{}: errors {}, warnings {}, notes {}\n", findings_text(findings), file, count(Severity::error),
               count(Severity::warning), count(Severity::note));
  return count(Severity::error) > 0 ? ExitCode::wrong_data : ExitCode::good;
}

constexpr std::array kActions{Action{"diff", "shows two profiles side by side", run_diff},
                              Action{"check", "questions the figures of one", run_check},
                              Action{"init", "writes one of your own", run_profile_init}};

ExitCode run_profile(const Call& call) {
  return run_action(
      call,
      {.verb = "hbench profile",
       .description = "Compares cluster profiles, checks your own, and writes it.",
       .kind = "action on profiles",
       .footer =
           "Examples:\n  hbench profile diff aws-p3-25gbe aws-p3dn-tcp\n  hbench profile check ./my-cluster.toml\n"
           "hbench profile diff|check|init --help say more; hbench list profiles shows all."},
      kActions);
}

}  // namespace

extern const Verb kProfile;
constinit const Verb kProfile{
    .name = "profile", .summary = "compare cluster profiles, check and write your own", .run = run_profile};

}  // namespace hbench
