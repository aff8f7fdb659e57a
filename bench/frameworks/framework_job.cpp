#include "bench/frameworks/framework_job.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "bench/launch/installation.hpp"
#include "bench/launch/start_ranks.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr Seconds kLongestAnswer{60};

/// What an answer of the script says: a version, or why there is none.
struct Answer {
  std::string version, lacks;
};

Answer answer_of(const HostAnswer& host) {
  if (!host.failure.empty()) return {"", host.failure};
  const std::string* line = host.json_line();
  const nlohmann::json said = line == nullptr ? nlohmann::json() : read_json(*line);
  const auto word = [&](const char* field) {
    return said.is_object() && said.contains(field) && said[field].is_string() ? said[field].get<std::string>() : "";
  };
  Answer answer{word("version"), word("lacks")};
  if (answer.version.empty() && answer.lacks.empty()) answer.lacks = "it says no version";
  return answer;
}

/// Asks one interpreter. Returns why the hosts do not all have it in one version; empty where `found` has that.
std::string ask(FoundFramework& found, const std::string& choice, const Allocation& hosts, const std::string& network) {
  std::map<std::string, std::vector<std::string>> reasons;  // with the hosts of each
  std::string first;
  found.version.clear();
  for (const HostAnswer& host : ask_hosts(hosts,
                                          {.program = {found.python, found.script, "--version", choice},
                                          .network = network,
                                          .timeout = kLongestAnswer,
                                          // A pinned or single-threaded answer is the quicker one.
                                           .environment = {{"OMP_NUM_THREADS", "1"}, kNoByteCode}},
                                          this_host())) {
    const Answer answer = answer_of(host);
    if (!answer.lacks.empty())
      reasons[answer.lacks].push_back(host.host);
    else if (found.version.empty())
      found.version = answer.version, first = host.host;
    else if (found.version != answer.version)
      reasons[fmt::format("version {}, and {} on {}", answer.version, found.version, first)].push_back(host.host);
  }
  std::vector<std::string> texts;
  for (const auto& [reason, names] : reasons)
    texts.push_back(hosts.is_local() ? reason : fmt::format("{}: {}", fmt::join(names, ", "), reason));
  return fmt::format("{}", fmt::join(texts, "; "));
}

constexpr const char* kPortVariable = "MASTER_PORT";
constexpr const char* kParameters = "parameters";
constexpr const char* kLoss = "loss";

/// The port at which this process could listen; 0 when `port` is taken. \param port 0: any that is free.
int listen_at(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;  // a port whose last connections are only being forgotten is free
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound =
      bind(listener, generic, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, generic, &size) == 0;
  close(listener);
  return bound ? ntohs(address.sin_port) : 0;
}

/// A port that is free here now. Rank 0 listens there seconds later, so that it is none that the kernel gives to a
/// connection meanwhile (net.ipv4.ip_local_port_range), and drawn, so that jobs which begin together rarely meet.
int free_port() {
  constexpr int kFirst = 15'000, kTries = 100;
  int given_out = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> given_out;
  std::random_device random;
  for (int i = 0; i < kTries && given_out > kFirst; ++i)
    if (const int port = listen_at(std::uniform_int_distribution(kFirst, given_out - 1)(random)); port > 0) return port;
  return listen_at(0);
}

int meeting_port() {
  const char* given = std::getenv(kPortVariable);
  if (given == nullptr || *given == '\0') return free_port();
  const int asked = parse_number<int>(given).value_or(0);
  const int port = asked > 0 && asked <= UINT16_MAX ? listen_at(asked) : 0;
  if (port == 0)
    throw Error(ExitCode::environment,
                fmt::format("ranks cannot meet at port {}={}: it is none, or in use", kPortVariable, given),
                fmt::format("unset {}, so that a free one is taken, or give another", kPortVariable));
  return port;
}

/// The values of a metric that the ranks reported.
std::vector<double> reported(const std::vector<Sample>& samples, std::string_view metric) {
  std::vector<double> values;
  for (const Sample& sample : samples)
    if (sample.metric == metric) values.push_back(sample.value);
  return values;
}

}  // namespace

std::vector<std::string> interpreters(const char* (*variable)(const char* name)) {
  const char* listed = variable("HBENCH_PYTHON");
  if (listed == nullptr || *listed == '\0') return {"python3", "/usr/bin/python3"};
  std::vector<std::string> pythons;
  std::istringstream list(listed);
  for (std::string python; std::getline(list, python, ':');)
    if (!python.empty()) pythons.push_back(python);
  return pythons;
}

FoundFramework find_framework(const FrameworkChoice& choice, const std::vector<std::string>& pythons,
                              const std::filesystem::path& folder, const Allocation& hosts,
                              const std::string& network) {
  FoundFramework found{.script = (folder / choice.framework->script).string()};
  std::vector<std::string> why;
  for (const std::string& python : pythons) {
    found.python = python;
    const std::string reason = ask(found, choice.text(), hosts, network);
    if (reason.empty()) return found;
    why.push_back(fmt::format("{} ({})", python, reason));
  }
  found.state = {false,
                 fmt::format("{} for {}", hosts.is_local() ? "not installed" : "not on all hosts in one version",
                             fmt::join(why, " and ")),
                 fmt::format("{}{}, or name an interpreter that has it: HBENCH_PYTHON=/path/to/python3",
                             hosts.is_local() ? "" : "on each host ", choice.framework->install)};
  return found;
}

FoundFramework find_framework(const FrameworkChoice& choice, const Allocation& hosts, const std::string& network) {
  return find_framework(choice, interpreters([](const char* name) -> const char* { return std::getenv(name); }),
                        installation().data / "frameworks", hosts, network);
}

int framework_processes(const Framework& framework, const Case& asked) { return asked.workers() + framework.servers; }

std::vector<std::string> framework_rank(const FoundFramework& found, const std::string& order) {
  return {found.python, found.script, order};
}

std::map<std::string, std::string> framework_variables(const FrameworkChoice& choice,
                                                       const std::vector<std::string>& host_of_rank,
                                                       const std::string& network) {
  const bool here = std::set(host_of_rank.begin(), host_of_rank.end()).size() < 2;
  std::map<std::string, std::string> variables{{"MASTER_ADDR", here ? "127.0.0.1" : host_of_rank.front()},
                                               {kPortVariable, std::to_string(meeting_port())},
                                               {"HBENCH_NETWORK", here ? "lo" : network},
                                               kNoByteCode};
  if (choice.setting != nullptr && !choice.setting->variable.empty())
    variables.emplace(choice.setting->variable, choice.setting->value);
  return variables;
}

std::string wrong_training(const Case& asked, const std::vector<Sample>& samples,
                           const std::vector<std::string>& digests) {
  const auto workers = static_cast<std::size_t>(asked.workers());
  const auto expected = static_cast<double>(find_entry(models(), asked.workload, "model").parameters);
  const std::vector<double> parameters = reported(samples, kParameters), losses = reported(samples, kLoss);
  if (parameters.size() < workers || losses.size() < workers) return "a rank did not say its parameters and its loss";
  if (const auto other = std::ranges::find_if(parameters, [&](double count) { return count != expected; });
      other != parameters.end())
    return fmt::format("it trained another model: {:.0f} parameters, and {} has {:.0f}", *other, asked.workload,
                       expected);
  if (!std::ranges::all_of(losses, [](double loss) { return std::isfinite(loss); }))
    return "its loss is no number: the training diverged";
  if (std::set(digests.begin(), digests.end()).size() > 1)
    return "its ranks ended with different parameters, although they train one model";
  return "";
}

}  // namespace hbench
