#include "bench/profile/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>

#include "analysis/catalogue/check.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/catalogue/profiles.hpp"

namespace hbench {
namespace {

/// What was said, and the rest as suggested.
void take(OwnCluster& cluster, const OwnCluster& suggested) {
  for (const OwnQuestion& question : own_questions())
    if ((cluster.*question.answer).empty()) cluster.*question.answer = suggested.*question.answer;
}

NodeLinks topology_in(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--topology: {}", error.what()),
                "nvidia-smi topo -m > topology.txt writes one, on a node of the cluster");
  }
  return parse_topology(text, file.string());
}

/// One answer, until it is right.
void ask(OwnCluster& cluster, const OwnQuestion& question, const std::string& suggested, std::istream& in,
         std::ostream& out) {
  const std::string usual = suggested.empty() ? fmt::format("such as {}", question.example) : suggested;
  while (lacks(cluster, question)) {
    out << fmt::format("{} [{}]: ", question.asks, usual) << std::flush;
    std::string line;
    if (!std::getline(in, line))
      throw Error(ExitCode::usage, fmt::format("no answer for {}", fmt::join(lacking(cluster), ", ")),
                  "give these flags, or answer on a terminal");
    const std::string_view answer = trimmed(line);
    cluster.*question.answer = answer.empty() ? suggested : std::string(answer);
    try {
      check_answer(cluster, question);
    } catch (const Error& error) {
      out << error.what() << " (" << error.hint() << ")\n";
      (cluster.*question.answer).clear();
    }
  }
}

void write_checked(const std::filesystem::path& file, const std::string& text, std::chrono::sys_days today) {
  const Profile profile = parse_profile(text, file.string(), installation().data / "cluster-profiles" / "gpus");
  const std::vector<ProfileFinding> findings = check_profile(profile, file.string(), today);
  std::vector<std::string> errors;
  for (const ProfileFinding& each : findings)
    if (each.severity == Severity::error) errors.push_back(each.what);
  if (!errors.empty())
    throw Error(ExitCode::usage, fmt::format("these figures cannot be true: {}", fmt::join(errors, "; ")),
                "correct the flags that state them, or the topology and the --gpu that they follow from");
  write_whole(file, text, "--out");
  fmt::print(
      "{}Wrote {}: {}\nNext: hbench choose --profile {}\n"
      "Once something was measured there: hbench calibrate --from ROWS --profile {}\n",
      findings_text(findings), one_line(file.string()), one_line(profile.title), shell_word(file.string()),
      shell_word(file.string()));
}

ExitCode run_diff(const Call& call) {
  std::string a, b;
  bool all = false;
  DocumentOutput output;
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
  add_all(app, all, "also figures that are the same");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  if (a.empty() || b.empty())
    throw Error(ExitCode::usage, "two profiles are needed", "hbench profile diff aws-p3-25gbe aws-p3dn-tcp");
  output.check();
  const Data data = load_data();
  const Profile left = data.profiles.load(a), right = data.profiles.load(b);
  output.deliver(difference_document(left, right, all), [&] { return difference_json(left, right, all); });
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
  add_json(app, json);
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
    fmt::print("{}{}: errors {}, warnings {}, notes {}\n", findings_text(findings), one_line(file),
               count(Severity::error), count(Severity::warning), count(Severity::note));
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

constexpr Verb kProfile{.name = "profile",
                        .summary = "compare cluster profiles, check and write your own",
                        .place = 16,
                        .run = run_profile};
constexpr std::array kProfileVerbs{&kProfile};
constexpr std::array kProfileSchemas{
    PublishedSchema{"profile-check-1", [] { return findings_json({}, Form::schema); }},
    PublishedSchema{"profile-diff-1", [] { return difference_json({}, {}, false, Form::schema); }},
};

}  // namespace

OwnCluster shown_by(const Machine& machine, std::span<const Profile> gpus) {
  OwnCluster shown;
  if (const auto& here = machine.driver.gpus; !here.empty()) {
    shown.gpus_per_node = std::to_string(here.size());
    for (const Profile& gpu : gpus)
      if (shown.gpu.empty() && is_gpu_of_catalogue(here.front().name, gpu.gpu)) shown.gpu = gpu.gpu;
    if (shown.gpu.empty()) shown.gpu = here.front().name;
  }
  const NetworkPort* fastest = nullptr;
  int alike = 0;
  for (const NetworkPort& port : machine.host.ports) {
    if (!port.up || !port.speed) continue;
    if (fastest == nullptr || port.speed->value > fastest->speed->value) {
      fastest = &port;
      alike = 0;
    }
    alike += port.speed == fastest->speed && port.rdma() == fastest->rdma() ? 1 : 0;
  }
  if (fastest == nullptr) return shown;
  shown.line_rate = fmt::format("{:g} Gbit/s", fastest->speed->value * 8 / 1e9);
  shown.nics = std::to_string(alike);
  shown.transport = fastest->rdma() ? "rdma" : "tcp";
  return shown;
}

NodeLinks links_of(std::span<const GpuFacts> gpus) {
  const auto between = [](const GpuFacts& from, const GpuFacts& to) {
    int count = 0;
    for (const NvLinks& some : from.nvlinks)
      if (some.end == NvLinks::End::nvswitch || (some.end == NvLinks::End::gpu && some.gpu == to.index))
        count += some.links;
    return count;
  };
  NodeLinks links(gpus.size(), std::vector<int>(gpus.size()));
  int all = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = 0; j < gpus.size(); ++j)
      if (i != j) all += links[i][j] = between(gpus[i], gpus[j]);
  return all > 0 ? links : NodeLinks();
}

void ask_for_rest(OwnCluster& cluster, const OwnCluster& suggested, std::istream& in, std::ostream& out) {
  for (const OwnQuestion& question : own_questions()) ask(cluster, question, suggested.*question.answer, in, out);
}

ExitCode run_profile_init(const Call& call) {
  OwnCluster cluster;
  std::filesystem::path file = "my-cluster.toml";
  bool here = false, force = false;
  std::filesystem::path topology;
  Arguments app(
      "Writes a profile of your own cluster, which every verb takes: from flags, from this machine, and on a terminal "
      "from answers.",
      "hbench profile init");
  app.footer(
      "Examples:\n  hbench profile init --gpu h100-sxm --gpus-per-node 8 --local-rate 370GB/s --line-rate 400Gbit/s "
      "--nics 8 --transport rdma --price 32usd --out mine.toml\n"
      "What nobody asks (latencies, overheads) is that of clusters with the same kind of links and network, with its "
      "source. hbench profile check FILE questions the result, hbench calibrate measures instead.\n"
      "Links inside a node that are not alike, as where NVLink joins pairs, come from --topology (or --here): rate_2 "
      "is that of the first two GPUs alone.\n"
      "GPUs of the catalogue: the names in hbench list profiles, and those of cluster-profiles/gpus.");
  add_out(app, file, "the file, FILE.toml");
  for (const OwnQuestion& question : own_questions())
    app.add_option(std::string(question.flag), cluster.*question.answer,
                   fmt::format("{}: {}", question.asks, question.example));
  app.add_flag("--here", here, "take what this machine shows: its GPUs and its fastest NICs (as hbench doctor)");
  app.add_option("--topology", topology, "what nvidia-smi topo -m printed on a node: GPUs, and the links between them");
  add_force(app, force);
  if (app.parse(call)) return ExitCode::good;
  if (std::filesystem::exists(file) && !force)
    throw Error(ExitCode::usage, fmt::format("'{}' is there already", file.string()), "give another --out, or --force");
  for (const OwnQuestion& question : own_questions()) check_answer(cluster, question);
  const bool terminal = isatty(STDIN_FILENO) != 0;
  OwnCluster shown;
  NodeLinks links;
  if (here || (terminal && !lacking(cluster).empty())) {
    const Machine machine = machine_here();
    shown = shown_by(machine, load_data().profiles.gpus());
    if (here) links = links_of(machine.driver.gpus);
  }
  if (here) take(cluster, shown);
  if (!topology.empty()) links = topology_in(topology);
  if (!links.empty()) {
    if (cluster.gpu.empty()) throw Error(ExitCode::usage, "what NVLinks carry depends on the GPU", "give --gpu too");
    take_links(cluster, links, load_data().profiles.gpu(cluster.gpu));
  }
  if (const std::vector<std::string> flags = lacking(cluster); !flags.empty() && !terminal)
    throw Error(ExitCode::usage, fmt::format("a profile needs {}", fmt::join(flags, ", ")),
                "give these flags; there is no terminal to ask on. What nvidia-smi topo -m prints has the links of a "
                "node: --topology FILE");
  ask_for_rest(cluster, shown, std::cin, std::cout);
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  const std::string day = date_text(today);
  write_checked(file, own_profile(cluster, fmt::format("stated to hbench profile init, {}", day), day), today);
  return ExitCode::good;
}

extern const Feature kProfileFeature;
constinit const Feature kProfileFeature{.verbs = kProfileVerbs, .schemas = kProfileSchemas};

}  // namespace hbench
