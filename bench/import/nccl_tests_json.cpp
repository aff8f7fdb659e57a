#include <fmt/format.h>

#include "bench/import/format.hpp"
#include "bench/import/json_value.hpp"
#include "bench/import/nccl_tests_cases.hpp"
#include "bench/import/nccl_tests_output.hpp"
#include "bench/import/timestamp.hpp"
#include "collectives/base/error.hpp"

/// nccl-tests' `-J FILE` (github.com/NVIDIA/nccl-tests, src/util.cu). Its list of devices has one of each process,
/// with `nthreads` x `ngpus` ranks; the test's name is the program's, the first of `args`; NaN is the text "nan".

namespace hbench {
namespace {

bool recognises(std::string_view text) {
  return text.starts_with('{') && text.find("\"nccl_version\"") != text.npos && text.find("\"args\"") != text.npos;
}

bool is_set(const JsonValue& object, const char* name) { return object.has(name) && !object.at(name).is_null(); }

/// `out_of_place` or `in_place`; none where it was not run.
std::optional<NcclTestsTiming> timing_of(const JsonValue& row, const char* way, const char* each) {
  if (!is_set(row, way)) return std::nullopt;
  const JsonValue timing = row.at(way);
  if (timing.has("cpu_time")) timing.at("cpu_time").fail("is the time of the CPU's calls", "measure without -C");
  NcclTestsTiming read{.seconds = timing.at("time").positive() * 1e-6,
                       .busbw = timing.at("bus_bw").number() * 1e9,
                       .wrong = is_set(timing, "nwrong") ? fmt::format("{:g}", timing.at("nwrong").number()) : "N/A"};
  if (is_set(row, each) && is_set(row.at(each), "times_us"))
    for (const JsonValue& time : row.at(each).at("times_us").elements()) read.each.push_back(time.positive() * 1e-6);
  return read;
}

NcclTestsRow row_of(const JsonValue& row, std::string where) {
  NcclTestsRow read{.where = std::move(where),
                    .bytes = row.at("size").bytes(),
                    .type = row.at("type").text(),
                    .redop = operation_of(row.at("redop").text())};
  const auto out_of_place = timing_of(row, "out_of_place", "out_of_place_per_iter");
  const auto in_place = timing_of(row, "in_place", "in_place_per_iter");
  if (!out_of_place && !in_place) row.fail("has no times");
  read.out_of_place = out_of_place.value_or(NcclTestsTiming());
  read.in_place = in_place.value_or(NcclTestsTiming());
  return read;
}

void read_config(const JsonValue& config, NcclTestsOutput& output) {
  std::set<std::string> hosts;
  int processes = 0;
  for (const JsonValue& device : config.at("devices").elements()) {
    ++processes;
    hosts.insert(device.at("hostname").text());
    if (const std::string model = device.at("device_info").text(); !model.empty()) output.gpus.insert(model);
  }
  constexpr double kMostRanks = 1e6;
  const double ranks = 1.0 * processes * config.at("nthreads").whole(1) * config.at("ngpus").whole(1);
  if (ranks > kMostRanks) config.fail(fmt::format("has {:g} ranks", ranks));
  output.ranks = static_cast<int>(ranks);
  output.nodes = static_cast<int>(hosts.size());
}

NcclTestsOutput read(const JsonValue& root, std::string_view file_name) {
  NcclTestsOutput output;
  const std::vector<JsonValue> arguments = root.at("args").elements();
  if (!arguments.empty()) {
    const std::string program = arguments.front().text();
    output.test = program.substr(program.find_last_of('/') + 1);
  }
  output.nccl = nccl_version_text(fmt::format("{}", root.at("nccl_version").whole(0)));
  read_config(root.at("config"), output);
  std::size_t index = 0;
  for (const JsonValue& row : root.at("results").elements())
    output.rows.push_back(row_of(row, fmt::format("{}: results[{}]", file_name, index++)));
  return output;
}

ImportedOutput parse(std::string_view text, std::string_view file_name) {
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name);
  ImportedOutput output = cases_of(read(root, file_name), file_name);
  if (root.has("start_time")) output.started_at = utc_of(root.at("start_time").text());
  return output;
}

}  // namespace

extern const ImportFormat kNcclTestsJsonFormat;
constinit const ImportFormat kNcclTestsJsonFormat{.name = "nccl-tests-json",
                                                  .summary = "nccl-tests' JSON, with iterations where it has them",
                                                  .example = "mpirun -n 16 all_reduce_perf -b 1K -e 1G -f 2 -J 1.json",
                                                  .recognises = recognises,
                                                  .parse = parse};

}  // namespace hbench
