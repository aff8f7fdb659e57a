#include "analysis/store/launches.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/error.hpp"

namespace hbench::store {

std::optional<std::int64_t> find_case(Database& database, std::int64_t run, const Case& asked) {
  Statement row(database,
                "SELECT max(id) FROM scaling_case WHERE run_id = ? AND question = ? AND place = ? AND status = 'done' "
                "HAVING max(id) IS NOT NULL");
  row.bind(run, asked.question(), asked.place());
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

void add_samples(Database& database, std::int64_t case_id, const std::vector<Sample>& samples) {
  Statement last(database, "SELECT coalesce(max(seq) + 1, 0) FROM sample WHERE case_id = ?");
  last.bind(case_id);
  std::int64_t seq = last.step() ? last.integer(0) : 0;
  Statement row(database,
                "INSERT INTO sample (case_id, seq, launch, rank, iteration, warmup, metric, value, unit) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Sample& sample : samples) {
    // SQLite would store a NaN as NULL.
    if (std::isnan(sample.value))
      throw Error(ExitCode::wrong_data, fmt::format("{} of launch {}, rank {}, iteration {}, is not a number",
                                                    sample.metric, sample.launch, sample.rank, sample.iteration));
    row.run(case_id, seq++, sample.launch, sample.rank, sample.iteration, sample.warmup, sample.metric, sample.value,
            sample.unit);
  }
}

}  // namespace hbench::store
