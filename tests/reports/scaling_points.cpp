#include "tests/reports/scaling_points.hpp"

namespace hbench {

Point point(Evidence evidence, const std::string& workload, const std::string& profile, int gpus,
            const Strategy& strategy, double efficiency) {
  Point result;
  result.asked = {.evidence = evidence,
                  .workload = workload,
                  .gpus = gpus,
                  .strategy = strategy,
                  .profile = profile,
                  .batch_per_gpu = 32};
  result.efficiency = efficiency;
  result.throughput = 100 * gpus * efficiency;
  result.throughput_per_gpu = 100 * efficiency;
  result.step_seconds = 32 / result.throughput_per_gpu;
  return result;
}

Point simulated(const std::string& workload, const std::string& profile, int gpus, const Strategy& strategy,
                double efficiency) {
  return point(Evidence::simulated, workload, profile, gpus, strategy, efficiency);
}

Point published(const std::string& profile, int gpus, const Strategy& strategy, double efficiency) {
  Point result = point(Evidence::published, "vgg16", profile, gpus, strategy, efficiency);
  result.asked.source = "a paper";
  return result;
}

Point measured(int ranks, const Strategy& strategy, double efficiency) {
  Point result = point(Evidence::measured, "resnet18", "local", ranks, strategy, efficiency);
  result.asked.image_size = 64;
  result.efficiency_low = efficiency - 0.03;
  result.efficiency_high = efficiency + 0.02;
  result.baseline = "one process without communication, 100 samples/s";
  result.launches = 3;
  result.iterations = 30;
  return result;
}

Point failure(const std::string& reason) {
  Point result = point(Evidence::measured, "resnet18", "local", 2, kRings, 0);
  result.efficiency.reset();
  result.throughput = 0;
  result.failed = true;
  result.failure = reason;
  return result;
}

ReportInput input_of(std::vector<Point> points) {
  ReportInput input;
  input.points = std::move(points);
  input.comparisons = compare_with_published(input.points);
  input.predictions = compare_with_measured(input.points);
  input.emulations = compare_with_emulated(input.points);
  input.profile_titles = {{"fast", "Fast cloud, 8 x A100, 200 Gbit/s"}, {"slow", "4 GPUs per node, 10 GbE"}};
  input.workload_titles = {{"vgg16", "VGG-16"}, {"resnet50", "ResNet-50"}, {"resnet18", "ResNet-18"}};
  return input;
}

Document report_on(std::vector<Point> points) { return kScalingReport.build(input_of(std::move(points))); }

std::string plain(std::string text) {
  for (std::size_t at = 0; (at = text.find("\u00a0", at)) != std::string::npos;) text.replace(at, 2, " ");
  return text;
}

std::string verdict_on(std::vector<Point> points) {
  return plain(std::get<Verdict>(report_on(std::move(points)).blocks.at(0)).text);
}

std::string reason_for(std::vector<Point> points) { return all_of<Paragraph>(report_on(std::move(points))).at(0).text; }

std::vector<std::vector<std::string>> best_rows(const Document& document) {
  for (const Table& table : all_of<Table>(document))
    if (table.caption.starts_with("All-reduce against parameter servers")) return table.rows;
  return {};
}

std::vector<std::vector<std::string>> rows_of(const Document& document, const std::string& caption) {
  for (const Table& table : all_of<Table>(document))
    if (table.caption == caption) return table.rows;
  return {};
}

}  // namespace hbench
