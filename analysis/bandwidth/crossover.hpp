#pragma once

/// `hbench crossover`: which strategy is the fastest where, and where that cannot be said.

#include <optional>
#include <string>
#include <vector>

#include "analysis/points/lead.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/varied_network.hpp"

namespace hbench {

/// Who is ahead in a cell.
struct Fastest {
  std::vector<std::size_t> candidates;       ///< by their index, the fastest and what is level with it
  LeadVerdict verdict = LeadVerdict::ahead;  ///< of the fastest over all others
};

/// What one candidate reaches in a cell.
struct CellFigure {
  double stated = 0, low = 0, high = 0;    ///< efficiency; low and high are the 90 % band
  std::optional<UnknownKind> widest = {};  ///< what makes most of it
};

/// One map: a row for each count, a column for each rate or size.
struct CrossoverMap {
  std::string title;
  std::string row_title, column_title;
  std::vector<std::string> rows, columns;
  std::vector<double> places;                 ///< of the columns on an axis; empty: no chart
  std::vector<std::vector<Fastest>> fastest;  ///< by row and column
  /// Of training steps, by row, column and candidate; none where the candidate is not possible.
  std::vector<std::vector<std::vector<std::optional<CellFigure>>>> figures;
};

struct Crossover {
  std::vector<std::string> candidates;
  std::vector<CrossoverMap> maps;
  std::string method;  ///< what was simulated, and what a tie is, in words
  std::vector<Refusal> refused;
};

/// `1..400` (doubling, the end included), `1,2.5,10`: Gbit/s, ascending, without repeats. \throws Error (usage).
std::vector<BytesPerSecond> parse_bandwidths(const std::string& text);
/// `1K..256M` (times four, the end included), `64K,1M`: bytes. \throws Error (usage).
std::vector<std::int64_t> parse_message_sizes(const std::string& text);

/// Training: a map for each workload, GPUs x `rates` per node of the one profile of `request`. \throws Error (usage) as
/// `plan_across_nodes`, (interrupted) after a stop.
Crossover training_crossover(const PredictionRequest& request, const std::vector<BytesPerSecond>& rates,
                             const Data& data, const SimulationMeans& means = {});

/// All-reduces alone on an idle network: ranks x sizes; or, with `rates`, rates x sizes for the one count in `gpus`.
/// \throws Error (usage, environment) for what is too large, (interrupted) after `stop`.
Crossover all_reduce_crossover(const Profile& profile, const std::vector<int>& gpus,
                               const std::vector<BytesPerSecond>& rates, const std::vector<std::int64_t>& sizes,
                               const StopRequested& stop = {});

/// The fastest of `steps`; null where a candidate is not possible. Pure.
Fastest fastest_of(const std::vector<const SimulatedStep*>& steps);

}  // namespace hbench
