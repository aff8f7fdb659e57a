#include "analysis/fit/node_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A generation of NVLinks: the least that all links of its GPUs carry together, and what a ring gets of one link. The
/// one whose GPUs have most comes first.
struct Generation {
  BytesPerSecond all_links, usable;
};
constexpr std::array kGenerations{Generation{BytesPerSecond(900e9), BytesPerSecond(40.1e9)},
                                  Generation{BytesPerSecond(450e9), BytesPerSecond(20.6e9)},
                                  Generation{BytesPerSecond(150e9), BytesPerSecond(20e9)},
                                  Generation{BytesPerSecond(80e9), BytesPerSecond(18e9)},  // Pascal
                                  Generation{BytesPerSecond(56e9), BytesPerSecond(12e9)},  // bridges of GA102
                                  Generation{BytesPerSecond(50e9), BytesPerSecond(20e9)},  // bridges of TU102
                                  Generation{BytesPerSecond(0), BytesPerSecond(18e9)}};

/// The share of a GPU's bus that a ring over PCIe gets, and the factor by which it may be higher or lower, since it may
/// go through bridges and between processors: 20 of 31.5 GB/s among 3 of 4 A100 PCIe, 12 of 15.75 of PCIe 3.0
/// (NCCL 2.30 src/graph/topo.h).
constexpr double kBusShare = 0.7, kBusFactor = 1.5;

constexpr std::array<std::string_view, 5> kPcieWays{"PIX", "PXB", "PHB", "NODE", "SYS"};

/// Returns `text` without the escapes that underline a header on a terminal.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size());
    else
      plain += text[i];
  }
  return plain;
}

std::string gpu_name(std::size_t index) { return fmt::format("GPU{}", index); }

/// Returns the number of NVLinks that a cell of the table states: `NV12`; 0 for PCIe (`SYS`) and a GPU itself (`X`),
/// and -1 for anything else.
int links_in(std::string_view word) {
  if (word.starts_with("NV"))
    if (const auto count = parse_number<int>(word.substr(2)); count && *count >= 1 && *count <= 64) return *count;
  if (word == "X" || std::ranges::find(kPcieWays, word) != kPcieWays.end()) return 0;
  return -1;
}

/// Returns whether a ring over NVLinks goes on from the last of `way` around all of the first `gpus`.
bool goes_around(const NodeLinks& links, std::size_t gpus, std::vector<std::size_t>& way) {
  const std::vector<int>& from = links[way.back()];
  if (way.size() == gpus) return from[0] > 0;
  for (std::size_t next = 1; next < gpus; ++next) {
    if (from[next] == 0 || std::ranges::find(way, next) != way.end()) continue;
    way.push_back(next);
    if (goes_around(links, gpus, way)) return true;
    way.pop_back();
  }
  return false;
}

/// Returns the least number of NVLinks that one of the first `gpus` has to the others of them.
int least_links(const NodeLinks& links, std::size_t gpus) {
  int least = 0;
  for (std::size_t i = 0; i < gpus; ++i) {
    int mine = 0;
    for (std::size_t j = 0; j < gpus; ++j) mine += links[i][j];
    least = i == 0 ? mine : std::min(least, mine);
  }
  return least;
}

}  // namespace

NodeLinks parse_topology(std::string_view text, std::string_view file_name) {
  NodeLinks links;
  std::size_t gpus = 0, number = 0;
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name, number, what),
                "give what nvidia-smi topo -m prints");
  };
  const std::string plain = without_escapes(text);
  for (const std::string_view line : lines_of(plain)) {
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (gpus == 0) {
      while (gpus < words.size() && words[gpus] == gpu_name(gpus)) ++gpus;
    } else if (links.size() < gpus && !words.empty()) {
      if (words[0] != gpu_name(links.size()) || words.size() <= gpus)
        refuse(fmt::format("the row of {} with {} columns is missing", gpu_name(links.size()), gpus));
      std::vector<int>& row = links.emplace_back();
      for (std::size_t i = 1; i <= gpus; ++i) {
        row.push_back(links_in(words[i]));
        if (row.back() < 0) refuse(fmt::format("'{}' is no way between two GPUs", words[i]));
      }
    }
  }
  if (gpus < 2 || links.size() < gpus) refuse("no table of two or more GPUs");
  for (std::size_t i = 0; i < gpus; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (links[i][j] != links[j][i])
        refuse(fmt::format("{} and {} have {} and {} NVLinks between them", gpu_name(j), gpu_name(i), links[j][i],
                           links[i][j]));
  return links;
}

std::map<int, LinkRate> rates_among(const NodeLinks& links, const Profile& gpu) {
  const BytesPerSecond usable = std::ranges::find_if(kGenerations, [&](const Generation& each) {
                                  return gpu.gpu_link_rate >= each.all_links;
                                })->usable;
  // Behind a switch each pair is said to have all links of its GPUs, which are more than these can have.
  const bool switched = gpu.gpu_link_rate.value > 0 && usable * least_links(links, links.size()) > gpu.gpu_link_rate;
  std::map<int, LinkRate> rates;
  for (std::size_t gpus = 2; gpus <= links.size(); ++gpus) {
    std::vector<std::size_t> way{0};
    const auto count = static_cast<int>(gpus);
    if (goes_around(links, gpus, way)) {
      const int used = switched ? links[0][1] : least_links(links, gpus);
      rates[count] = {.rate = usable * used,
                      .source = fmt::format("{} NVLink{} of a GPU at {:g} GB/s usable (NCCL 2.30 src/graph/topo.h)",
                                            used, used == 1 ? "" : "s", usable.value / 1e9),
                      .links = true};
    } else if (gpu.gpu_bus_rate.value > 0) {
      rates[count] = {gpu.gpu_bus_rate * kBusShare,
                      fmt::format("no ring of NVLinks goes around: {:.0f} % of the GPU's bus", 100 * kBusShare),
                      kBusFactor};
    }
  }
  return rates;
}

}  // namespace hbench
