#pragma once

/// `hbench track check`: judges a run of a database against earlier ones.

#include <map>
#include <string>

#include "analysis/store/store.hpp"
#include "analysis/track/report.hpp"
#include "analysis/track/sides.hpp"

namespace hbench {

/// Says that a run (0: the newest) is as fast as it should be: later ones are held to it and to those after it. The
/// number of the run. `now` is ISO 8601. \throws Error (usage) as `check`, and without a reason.
std::int64_t accept(Store& store, int run, const std::string& reason, const std::string& now);

/// \param baselines the database that has the runs of the baseline; null: the same.
/// \throws Error (usage) for a run or a frozen baseline that is not there, and a database without runs.
TrackReport check(const Store& store, const TrackRequest& request, const Store* baselines = nullptr);

/// The runs that the next run would be held to.
BaselineRuns next_baseline(const Store& store, const TrackRequest& request);

/// Keeps the verdicts with all that they were given by, and gives the results their numbers. `version` is hbench's,
/// `now` ISO 8601. \throws Error (environment) where nothing can be written.
void keep_verdicts(Store& store, TrackReport& report, const std::string& version, const std::string& now);

/// `branch=main` of `main`, and any label as it is. \throws Error (usage) for text that is none.
std::map<std::string, std::string> parse_baseline(const std::string& text);
/// What `--baseline` says of a database: a frozen baseline by its name (also `frozen:NAME`), a branch or a label.
/// \throws Error (usage) as `parse_baseline`, for a frozen baseline that is not there, and for a name that is both.
void choose_baseline(TrackRequest& request, const std::string& text, const Store& store);
/// Whether `--fail-on` names inconclusive cases. \throws Error (usage) for other words.
bool parse_fail_on(const std::string& text);

}  // namespace hbench
