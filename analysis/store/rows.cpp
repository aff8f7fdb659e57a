#include "analysis/store/rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/error.hpp"

namespace hbench::store {
namespace {

/// Revision 1: the first.
constexpr std::string_view kImplementation = "sqlite/1";

constexpr std::string_view kInsertCase =
    "INSERT INTO scaling_case (run_id, key, evidence, workload, gpus, algorithm, placement, servers, server_mode, "
    "compressor, fusion, overlap, profile, batch_per_gpu, image_size, single_gpu_rate, implementation, source, status, "
    "failure, exit_code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr std::string_view kInsertCollective =
    "INSERT INTO collective_case (case_id, collective, bytes, data_type, operation, executor, ranks_per_node, "
    "segments) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

constexpr std::string_view kInsertTraining =
    "INSERT INTO training_case (case_id, device, executor, precision) VALUES (?, ?, ?, ?)";

constexpr std::string_view kSelectCases =
    "SELECT id, evidence, workload, gpus, algorithm, placement, servers, server_mode, compressor, fusion, overlap, "
    "profile, batch_per_gpu, image_size, single_gpu_rate, implementation, source, status, failure, exit_code, "
    "collective, bytes, data_type, operation, c.executor, ranks_per_node, segments, device, t.executor, precision "
    "FROM scaling_case AS one LEFT JOIN collective_case AS c ON c.case_id = id "
    "LEFT JOIN training_case AS t ON t.case_id = id "
    "WHERE id = (SELECT id FROM scaling_case AS same WHERE same.key = one.key "
    "ORDER BY same.status = 'done' DESC, same.id DESC LIMIT 1) ORDER BY id";

constexpr std::string_view kInsertSample =
    "INSERT INTO sample (case_id, seq, launch, rank, iteration, warmup, metric, value, unit) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr std::string_view kSelectSamples =
    "SELECT launch, rank, iteration, warmup, metric, value, unit FROM sample WHERE case_id = ? ORDER BY seq";

std::string_view to_string(CaseStatus status) { return status == CaseStatus::done ? "done" : "failed"; }

int small(const Statement& row, int column) { return static_cast<int>(row.integer(column)); }

CaseResult case_of(const Statement& row) {
  CaseResult result;
  Case& asked = result.asked;
  asked.evidence = parse_evidence(row.text(1));
  asked.workload = row.text(2);
  asked.gpus = small(row, 3);
  asked.strategy = {.algorithm = row.text(4),
                    .placement = row.text(5),
                    .servers = small(row, 6),
                    .server_mode = row.text(7),
                    .compressor = row.text(8),
                    .fusion = row.text(9),
                    .overlap = row.integer(10) != 0};
  asked.profile = row.text(11);
  asked.batch_per_gpu = small(row, 12);
  asked.image_size = small(row, 13);
  asked.single_gpu_rate = row.real(14);
  asked.implementation = row.text(15);
  asked.source = row.text(16);
  result.status = row.text(17) == "done" ? CaseStatus::done : CaseStatus::failed;
  result.failure = row.text(18);
  result.exit_code = small(row, 19);
  // Empty and 0 where the joins found nothing: a training step on CPU cores.
  asked.collective = {.name = row.text(20),
                      .bytes = row.integer(21),
                      .data_type = row.text(22),
                      .operation = row.text(23),
                      .executor = row.text(24),
                      .ranks_per_node = small(row, 25),
                      .segments = small(row, 26)};
  asked.training = {.device = row.text(27), .executor = row.text(28), .precision = row.text(29)};
  return result;
}

Sample sample_of(const Statement& row) {
  return {.launch = small(row, 0),
          .rank = small(row, 1),
          .iteration = small(row, 2),
          .warmup = row.integer(3) != 0,
          .metric = row.text(4),
          .value = row.real(5),
          .unit = row.text(6)};
}

}  // namespace

std::int64_t insert(Database& database, const Run& run) {
  Statement(database, "INSERT INTO run (command, version, store, started_at) VALUES (?, ?, ?, ?)")
      .run(run.command, run.version, kImplementation, run.started_at);
  const std::int64_t id = database.last_row_id();
  Statement fact(database, "INSERT INTO environment (run_id, key, value) VALUES (?, ?, ?)");
  for (const auto& [key, value] : run.environment) fact.run(id, key, value);
  return id;
}

void insert(Database& database, std::int64_t run, const CaseResult& result) {
  const Case& asked = result.asked;
  const Strategy& strategy = asked.strategy;
  Statement(database, kInsertCase)
      .run(run, asked.key(), hbench::to_string(asked.evidence), asked.workload, asked.gpus, strategy.algorithm,
           strategy.placement, strategy.servers, strategy.server_mode, strategy.compressor, strategy.fusion,
           strategy.overlap, asked.profile, asked.batch_per_gpu, asked.image_size, asked.single_gpu_rate,
           asked.implementation, asked.source, to_string(result.status), result.failure, result.exit_code);
  const std::int64_t id = database.last_row_id();
  if (const CollectiveTask& task = asked.collective; asked.is_collective())
    Statement(database, kInsertCollective)
        .run(id, task.name, task.bytes, task.data_type, task.operation, task.executor, task.ranks_per_node,
             task.segments);
  if (const TrainingTask& task = asked.training; !task.empty())
    Statement(database, kInsertTraining).run(id, task.device, task.executor, task.precision);
  Statement row(database, kInsertSample);
  int seq = 0;
  for (const Sample& sample : result.samples) {
    // SQLite would store a NaN as NULL.
    if (std::isnan(sample.value))
      throw Error(ExitCode::wrong_data,
                  fmt::format("{} of {} at {} GPUs, rank {}, iteration {}, is not a number", sample.metric,
                              asked.workload, asked.gpus, sample.rank, sample.iteration));
    row.run(id, seq++, sample.launch, sample.rank, sample.iteration, sample.warmup, sample.metric, sample.value,
            sample.unit);
  }
}

std::vector<Run> select_runs(Database& database) {
  std::vector<Run> runs;
  Statement row(database, "SELECT id, command, version, started_at FROM run ORDER BY id");
  Statement fact(database, "SELECT key, value FROM environment WHERE run_id = ?");
  while (row.step()) {
    Run& run = runs.emplace_back(Run{row.text(1), row.text(2), row.text(3), {}});
    fact.bind(row.integer(0));
    while (fact.step()) run.environment[fact.text(0)] = fact.text(1);
  }
  return runs;
}

std::vector<CaseResult> select_results(Database& database) {
  std::vector<CaseResult> results;
  Statement row(database, kSelectCases);
  Statement sample(database, kSelectSamples);
  while (row.step()) {
    CaseResult& result = results.emplace_back(case_of(row));
    sample.bind(row.integer(0));
    while (sample.step()) result.samples.push_back(sample_of(sample));
  }
  return results;
}

}  // namespace hbench::store
