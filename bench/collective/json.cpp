#include "bench/collective/json.hpp"

#include <map>
#include <tuple>

#include "bench/collective/fields.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

/// The metric, the launch, whether it is a warm-up, and the rank; of these the values of the iterations, in order.
using Series = std::map<std::tuple<std::string, int, bool, int>, std::vector<double>>;

Series series_of(const CaseResult& result) {
  Series series;
  for (const Sample& sample : result.samples)
    series[{sample.metric, sample.launch, sample.warmup, sample.rank}].push_back(sample.value);
  return series;
}

void series_fields(Row& row, const Series::value_type& series) {
  const auto& [metric, launch, warmup, rank] = series.first;
  row.field("metric", metric);
  row.field("launch", launch);
  row.field("warmup", warmup);
  row.field("rank", rank);
  row.field("values", series.second, "of the iterations");
}

void result_fields(Row& row, const CollectiveRow& each) {
  collective_fields(row, each);
  row.rows("samples", series_of(each.result), series_fields);
}

void unit_fields(Row& row, int) {
  row.field("seconds", "s");
  row.field("algbw", "B/s");
  row.field("busbw", "B/s");
  row.field("break_even_bandwidth", "B/s");
}

}  // namespace

std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused, const Run& run,
                            const std::optional<BytesPerSecond>& link, Form form) {
  return object_text(form, "hbench collective --json, format 1", run, [&](Row& row, const Run&) {
    row.field("format", 1);
    row.field("command", run.command);
    row.field("version", run.version, "of hbench");
    row.field("started_at", run.started_at, "UTC");
    row.field("environment", run.environment, "facts about the machine");
    row.object("units", 0, unit_fields);
    row.rows("comparison", compare_with_peers(rows), peer_fields);
    row.rows("bound", shares_of_bound(rows), bound_fields);
    row.rows("link", link ? shares_of_link(rows, *link) : std::vector<LinkShare>(), link_fields);
    row.rows("refused", refused, refusal_fields);
    row.rows("results", rows, result_fields);
  });
}

std::string collective_csv(const std::vector<CollectiveRow>& rows) {
  std::vector<Json> objects;
  for (const CollectiveRow& row : rows) objects.push_back(json_of(Form::values, row, collective_fields));
  return csv_lines(objects);
}

}  // namespace hbench
