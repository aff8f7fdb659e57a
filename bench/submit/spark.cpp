/// Spark: hosts are the tasks of a barrier stage, which share/hbench/spark/hbench_spark.py starts. Client mode alone:
/// standalone clusters refuse Python programs in cluster mode, and elsewhere the driver, with mpirun, the database and
/// the report, would be in a container whose files go with it.

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "bench/launch/installation.hpp"
#include "bench/submit/engine.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr EngineOption kSparkOptions[] = {
    {"master", "spark://HOST:7077, yarn, k8s://https://HOST:443 or local[CORES]", ""},
    {"executor-memory", "memory of a node's JVM; the ranks' is beside it", "1g"},
    {"executor-memory-overhead", "memory of a node's ranks, where the engine limits it (YARN, Kubernetes): 16g", ""},
    {"start-timeout", "seconds until all nodes have started", "600"},
    {"spark-conf", "more settings: NAME=VALUE;NAME=VALUE", ""},
};

std::vector<std::string> settings_of(const std::string& text) {
  std::vector<std::string> settings;
  for (const std::string_view setting : split(text, ';'))
    if (!setting.empty()) settings.emplace_back(setting);
  return settings;
}

/// Why Spark would refuse a setting, or misread it; empty where it would not.
std::string wrong_setting(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (!setting.starts_with("spark.") || equals == std::string::npos)
    return fmt::format("--spark-conf '{}' is no setting of Spark; write spark.NAME=VALUE", setting);
  const std::string name = setting.substr(0, equals);
  for (const std::string_view ours :
       {"spark.executor.cores", "spark.task.cpus", "spark.cores.max", "spark.executor.instances",
        "spark.executor.resource.gpu.amount", "spark.task.resource.gpu.amount"})
    if (name == ours) return fmt::format("--spark-conf sets {}, which follows from the number of nodes and GPUs", name);
  return "";
}

bool is_seconds(const std::string& text) {
  const int seconds = parse_number<int>(text).value_or(-1);
  return seconds >= 0 && seconds < 1'000'000;
}

std::string refuses_submission(const Submission& submission) {
  if (const std::string& limit = submission.option("start-timeout"); !is_seconds(limit))
    return fmt::format("--start-timeout '{}' is no whole number of seconds", limit);
  for (const std::string& setting : settings_of(submission.option("spark-conf")))
    if (const std::string wrong = wrong_setting(setting); !wrong.empty()) return wrong;
  return "";
}

/// A node is an executor that one task fills.
std::vector<std::string> node_settings(const Submission& submission) {
  const std::string overhead = submission.option("executor-memory-overhead");
  std::vector<std::string> settings{
      fmt::format("spark.executor.cores={}", submission.ranks_per_node),
      fmt::format("spark.task.cpus={}", submission.ranks_per_node),
      // How many executors, in the words of a standalone cluster and in those of YARN and Kubernetes.
      fmt::format("spark.cores.max={}", std::int64_t{submission.ranks_per_node} * submission.nodes),
      fmt::format("spark.executor.instances={}", submission.nodes),
      "spark.executor.memory=" + submission.option("executor-memory")};
  if (!overhead.empty()) settings.push_back("spark.executor.memoryOverhead=" + overhead);
  if (submission.gpus_per_node > 0) {
    settings.push_back(fmt::format("spark.executor.resource.gpu.amount={}", submission.gpus_per_node));
    settings.push_back(fmt::format("spark.task.resource.gpu.amount={}", submission.gpus_per_node));
  }
  // Spark's own lines would hide those of the sweep. Before 3.5 Spark does not know this setting.
  settings.emplace_back("spark.log.level=ERROR");
  return settings;
}

std::vector<std::string> spark_command(const Submission& submission, const std::filesystem::path&) {
  std::vector<std::string> command{"spark-submit", "--deploy-mode", "client", "--name", submission.job};
  if (const std::string& master = submission.option("master"); !master.empty())
    command.insert(command.end(), {"--master", master});
  std::vector<std::string> settings = node_settings(submission);
  const std::vector<std::string> more = settings_of(submission.option("spark-conf"));
  settings.insert(settings.end(), more.begin(), more.end());
  for (const std::string& setting : settings) command.insert(command.end(), {"--conf", setting});
  command.insert(command.end(),
                 {installation().data / "spark/hbench_spark.py", "--tasks", std::to_string(submission.nodes), "--slots",
                  std::to_string(submission.ranks_per_node), "--timeout", submission.option("start-timeout")});
  if (submission.time_limit > Seconds(0))
    command.insert(command.end(), {"--time-limit", fmt::format("{:.0f}", std::ceil(submission.time_limit.value))});
  command.insert(command.end(), {"--", submission.program, "sweep"});
  const std::vector<std::string> sweep = submission.sweep_into(submission.folder);
  command.insert(command.end(), sweep.begin(), sweep.end());
  return command;
}

/// On a line each what belongs together.
std::string render_command(const Submission& submission) {
  std::string text;
  const std::vector<std::string> command = spark_command(submission, {});
  for (std::size_t i = 0; i < command.size(); ++i) {
    const bool begins =
        command[i] == "--conf" || command[i] == "--" || (i > 0 && command[i].ends_with("/hbench_spark.py"));
    if (i > 0) text += begins ? " \\\n  " : " ";
    text += shell_word(command[i]);
    if (command[i] == "--") {
      for (++i; i < command.size(); ++i) text += " " + shell_word(command[i]);
    }
  }
  return text + "\n";
}

}  // namespace

extern const Engine kSparkEngine;
constinit const Engine kSparkEngine{
    .name = "spark",
    .summary = "the tasks of a Spark application, whose driver is here",
    .options = kSparkOptions,
    .availability =
        [](std::string_view path) {
          return program_availability("spark-submit", path,
                                      "add the folder bin of Spark 3.4 or newer to it (PyPI: pyspark)");
        },
    .refuses = refuses_submission,
    .render = render_command,
    .submit = spark_command,
    .job_of = [](const Submission& submission, std::string_view) { return submission.job; },
    .ask = nullptr,
    .state = nullptr,
    .fetch = [](const Submission&, const std::string&) { return std::vector<std::vector<std::string>>(); },
};

}  // namespace hbench
