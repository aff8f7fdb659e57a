#include "bench/launch/nccl_log.hpp"

#include <stdlib.h>

#include <cctype>
#include <fstream>
#include <iterator>

#include "analysis/points/collectives.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// `NET/IB/0/GDRDMA` -> `NET/IB/GDRDMA`: parts that begin with a digit number cards and ranks.
std::string without_numbers(std::string_view transport) {
  std::string text;
  while (!transport.empty()) {
    const std::string_view part = transport.substr(0, transport.find('/'));
    transport.remove_prefix(std::min(part.size() + 1, transport.size()));
    if (part.empty() || std::isdigit(static_cast<unsigned char>(part.front())) != 0) continue;
    text += (text.empty() ? "" : "/") + std::string(part);
  }
  return text;
}

/// The transport that a line announces; empty for other lines.
std::string announced(std::string_view line) {
  if (line.find("NCCL INFO") == std::string_view::npos) return "";
  if (line.find("NVLS comm ") != std::string_view::npos) return "NVLS";
  if (line.find("Connected NVLS tree") != std::string_view::npos) return "NVLS tree";
  constexpr std::string_view kVia = " via ";
  const std::size_t via = line.find(kVia);
  if (via == std::string_view::npos || line.find("[receive]") != std::string_view::npos) return "";
  std::string_view transport = line.substr(via + kVia.size());
  // Some versions add ` comm 0x7f.. nRanks 02`.
  transport = transport.substr(0, transport.find(" comm "));
  for (const std::string_view family : {"P2P/", "SHM/", "NET/", "COLLNET/"})
    if (transport.starts_with(family)) return without_numbers(transport);
  return "";
}

}  // namespace

std::map<std::string, int> observed_transports(std::string_view log) {
  std::map<std::string, int> transports;
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (const std::string transport = announced(line); !transport.empty()) ++transports[transport];
  }
  return transports;
}

NcclLog::NcclLog(bool wanted, const char* variable) : wanted_(wanted) {
  if (!wanted || variable != nullptr) return;
  std::error_code status;
  const fs::path where = fs::temp_directory_path(status);
  std::string name = ((status ? fs::path("/tmp") : where) / "hbench-nccl-XXXXXX").string();
  // Without it nothing is observed, which is no reason not to measure.
  if (mkdtemp(name.data()) != nullptr) folder_ = name;
}

NcclLog::~NcclLog() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::map<std::string, std::string> NcclLog::environment() const {
  if (!wanted_) return {};
  // Read by NCCL 2.30 and newer, and of use only with more ranks than GPUs.
  std::map<std::string, std::string> variables{{"NCCL_MULTI_RANK_GPU_ENABLE", "1"}};
  if (folder_.empty()) return variables;
  variables["NCCL_DEBUG"] = "INFO";
  variables["NCCL_DEBUG_SUBSYS"] = "INIT,P2P,SHM,NET,NVLS";
  variables["NCCL_DEBUG_FILE"] = (folder_ / "%h.%p").string();  // host and process, put in by NCCL
  return variables;
}

std::map<std::string, int> NcclLog::transports() const {
  std::map<std::string, int> all;
  if (folder_.empty()) return all;
  std::error_code ignored;
  for (fs::directory_iterator at(folder_, ignored), end; at != end; at.increment(ignored)) {
    std::ifstream file(at->path());
    const std::string log((std::istreambuf_iterator<char>(file)), {});
    for (const auto& [transport, connections] : observed_transports(log)) all[transport] += connections;
  }
  return all;
}

bool uses_nccl(const Case& asked) {
  return asked.collective.executor.starts_with("nccl") || asked.training.executor.starts_with("nccl");
}

std::vector<Sample> transport_samples(const std::map<std::string, int>& transports, int launch) {
  std::vector<Sample> samples;
  for (const auto& [transport, connections] : transports)
    samples.push_back({.launch = launch,
                       .metric = std::string(metric::kTransport) + transport,
                       .value = static_cast<double>(connections),
                       .unit = "connections"});
  return samples;
}

}  // namespace hbench
