#include <fmt/format.h>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/nccl_tests_output.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/error.hpp"

/// nccl-tests' `-J FILE` (github.com/NVIDIA/nccl-tests, src/util.cu). Its list of devices has one of each process,
/// with `nthreads` x `ngpus` ranks; the test's name is the program's, the first of `args`; NaN is the text "nan".

namespace hbench {
namespace {

bool is_nccl_tests_json(std::string_view text) {
  return text.starts_with('{') && text.find("\"nccl_version\"") != text.npos && text.find("\"args\"") != text.npos;
}

/// Times and rates have six decimals.
PrintedNumber printed(double value, double unit) { return PrintedNumber{.value = value, .slack = 5.1e-7} * unit; }

/// `out_of_place` or `in_place`. \pre it is set, and its times are numbers above 0.
NcclTestsTiming timing_of(const JsonValue& timing) {
  return {.seconds = printed(timing.at("time").positive(), 1e-6),
          .algbw = printed(timing.at("alg_bw").number(), 1e9),
          .busbw = printed(timing.at("bus_bw").number(), 1e9),
          .wrong = timing.is_set("nwrong") ? fmt::format("{:g}", timing.at("nwrong").number()) : "N/A"};
}

/// Why a timing cannot be used; empty where it can. \throws Error (usage) for times of the CPU.
std::string fault_of(const JsonValue& timing) {
  if (timing.has("cpu_time")) timing.at("cpu_time").fail("is the time of the CPU's calls", "measure without -C");
  for (const char* name : {"time", "alg_bw", "bus_bw"})
    if (const JsonValue value = timing.at(name);
        !value.is_number() || (name == std::string_view("time") && value.number() <= 0))
      return fmt::format("its {} is {}", name, value.shown());
  return "";
}

void read_row(const JsonValue& json, std::size_t index, std::string_view file_name, NcclTestsOutput& output) {
  const std::string name = fmt::format("results[{}]", index);
  NcclTestsRow row{.where = fmt::format("{}: {}", file_name, name),
                   .bytes = json.at("size").bytes(),
                   .type = json.at("type").text(),
                   .redop = operation_of(json.at("redop").text()),
                   .out_of_place = {},
                   .in_place = {}};
  if (!json.is_set("out_of_place") && !json.is_set("in_place")) json.fail("has no times");
  for (auto [way, timing] : {std::pair("out_of_place", &row.out_of_place), std::pair("in_place", &row.in_place)}) {
    if (!json.is_set(way)) continue;
    if (const std::string fault = fault_of(json.at(way)); !fault.empty()) {
      output.left_out.push_back(fmt::format("{}.{}: {}", name, way, fault));
      return;
    }
    *timing = timing_of(json.at(way));
    const std::string each = fmt::format("{}_per_iter", way);
    if (json.is_set(each.c_str()) && json.at(each.c_str()).is_set("times_us"))
      for (const JsonValue& time : json.at(each.c_str()).at("times_us").elements())
        (*timing)->each.push_back(time.positive() * 1e-6);
  }
  output.rows.push_back(std::move(row));
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
    output.names.insert(program.substr(program.find_last_of('/') + 1));
  }
  output.nccl = nccl_version_text(fmt::format("{}", root.at("nccl_version").whole(0)));
  read_config(root.at("config"), output);
  std::size_t index = 0;
  for (const JsonValue& row : root.at("results").elements()) read_row(row, index++, file_name, output);
  return output;
}

ImportedOutput parse_nccl_tests_json(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name);
  ImportedOutput output = cases_of({read(root, file_name)}, file_name, hints);
  if (root.has("start_time")) output.started_at = utc_of(root.at("start_time").text());
  return output;
}

}  // namespace

extern constinit const ImportFormat kNcclTestsJsonFormat{
    .name = "nccl-tests-json",
    .summary = "nccl-tests' JSON, with iterations where it has them",
    .example = "mpirun -n 16 all_reduce_perf -b 1K -e 1G -f 2 -J 1.json",
    .recognises = is_nccl_tests_json,
    .parse = parse_nccl_tests_json};

}  // namespace hbench
