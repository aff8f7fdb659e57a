#include "bench/calibrate/link_curve.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/calibrate/own_verb.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {
namespace {

constexpr const char* kDoing = "measuring what joins the ranks";
constexpr int kAttempts = 3;

TimedSize timed_size(const nlohmann::json& row) {
  if (row.at("status") == "failed")
    throw Error(ExitCode::lost_rank, fmt::format("{}: {}", kDoing, row.at("failure").get<std::string>()),
                "hbench collective --algorithm ring repeats it; hbench doctor says what is wrong with this machine");
  return {row.at("size").get<std::int64_t>(), row.at("in_place_seconds").get<double>()};
}

std::vector<TimedSize> time_ring(const LinkRequest& request) {
  const VerbOutcome outcome = run_own_verb(request.program, link_arguments(request));
  // Cases that failed are in the output, which says more than the exit code.
  if (outcome.exit.code != 0 && outcome.out.empty()) throw_as_said(outcome.exit, kDoing);
  return timed_sizes(outcome.out);
}

}  // namespace

std::vector<std::string> link_arguments(const LinkRequest& request) {
  // On CPU cores 16 MiB are beyond every cache that is a core's own, and larger ones only take longer.
  return {"collective",
          "--json",
          "--quiet",
          "--algorithm",
          "ring",
          "--executor",
          request.executor,
          "--ranks",
          std::to_string(request.ranks),
          "-b",
          "1K",
          "-e",
          request.on_gpu ? "256M" : "16M",
          "-f",
          "2"};
}

std::vector<TimedSize> timed_sizes(std::string_view json) {
  try {
    std::vector<TimedSize> sizes;
    const auto document = read_json(json);
    for (const auto& row : document.at("results")) sizes.push_back(timed_size(row));
    return sizes;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("{}: hbench collective printed what cannot be read", kDoing));
  }
}

MeasuredLink measure_link(const LinkRequest& request) {
  for (int attempt = 1;; ++attempt) {
    std::vector<TimedSize> timed = time_ring(request);
    try {
      const LinkFit fit = fit_link(timed, request.ranks);
      return {fit, std::move(timed)};
    } catch (const Error& error) {
      if (error.code() != ExitCode::wrong_data || attempt == kAttempts) throw;
    }
  }
}

}  // namespace hbench
