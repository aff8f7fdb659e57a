#include <fmt/format.h>

#include <cmath>

#include "analysis/records/words.hpp"
#include "reports/prediction/expectation.hpp"

namespace hbench {
namespace {

std::string rate_text(double samples_per_second) {
  return samples_per_second < 1000 ? fmt::format("{:.4g}", samples_per_second)
                                   : fmt::format("{:.0f}", samples_per_second);
}

std::string times_text(double ratio) {
  return ratio < 10 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string verdict(const TrainingExpectation& found) {
  const std::string expected =
      fmt::format("{} ({} to {}) samples/s", rate_text(found.expected), rate_text(found.low), rate_text(found.high));
  const std::string measured = rate_text(found.measured);
  switch (found.normality()) {
    case Normality::normal:
      return fmt::format("{} samples/s are normal: {} are expected of {} GPUs of {}.", measured, expected,
                         found.asked.gpus, found.asked.profile);
    case Normality::fast:
      return fmt::format("{} samples/s are more than the {} that are expected of {} GPUs of {}.", measured, expected,
                         found.asked.gpus, found.asked.profile);
    case Normality::impossible:
      if (found.peak > 0 && found.measured > found.peak)
        return fmt::format(
            "{} samples/s are faster than possible: at their peak {} GPUs compute {}. Another unit (tokens), or "
            "another number of GPUs?",
            measured, found.asked.gpus, rate_text(found.peak));
      return fmt::format(
          "{} samples/s are more than {} GPUs train alone, {} samples/s: give the rate of yours with "
          "--single-gpu-rate.",
          measured, found.asked.gpus, rate_text(found.alone));
    case Normality::slow:
      break;
  }
  return fmt::format("{} samples/s are slow: {} are expected of {} GPUs of {}, {} times as many.", measured, expected,
                     found.asked.gpus, found.asked.profile, times_text(found.expected / found.measured));
}

void suspicion_fields(Row& row, const TrainingSuspicion& suspicion) {
  row.field("what", suspicion.what).in("where the time may have gone");
  row.field("expected_samples_per_second", suspicion.expected, "if it is that").in("samples/s then", rate_text);
  row.field("off", suspicion.off, "|ln| of measured / expected, if it is that").in("off by", [&](double off) {
    return suspicion.fitted ? std::string("fitted") : percent(std::expm1(off));
  });
  row.field("fitted", suspicion.fitted, "a figure of it was chosen so that it explains what was measured");
  row.field("check", suspicion.check).in("what shows it");
}

void expectation_fields(Row& row, const TrainingExpectation& found) {
  row.field("schema", std::string("hbench-expect-training-1"));
  row.field("workload", found.asked.workload);
  row.field("profile", found.asked.profile);
  row.field("gpus", found.asked.gpus);
  row.field("strategy", found.asked.strategy.label());
  row.field("measured_samples_per_second", found.measured);
  row.field("expected_samples_per_second", found.expected);
  row.field("low_samples_per_second", found.low, "of the 90 % band");
  row.field("high_samples_per_second", found.high, "of the 90 % band");
  row.field("alone_samples_per_second", found.alone, "of GPUs that each train for themselves");
  row.field("communication_share", found.communication, "of the expected step, with a collective in flight");
  row.field("verdict", std::string(to_string(found.normality())), "normal, slow, fast, faster than possible");
  row.rows("suspicions", found.suspicions, suspicion_fields);
}

}  // namespace

Document training_expectation_document(const TrainingExpectation& found) {
  Document document;
  document.blocks.emplace_back(Verdict{verdict(found)});
  document.blocks.emplace_back(Paragraph{fmt::format(
      "{}, {} samples per GPU, {}; without communication {} samples/s, and a collective is in flight for {} of "
      "a step.",
      found.asked.workload, found.asked.batch_per_gpu, found.asked.strategy.label(), rate_text(found.alone),
      percent(found.communication))});
  if (!found.suspicions.empty())
    document.blocks.emplace_back(
        table_of(found.suspicions, suspicion_fields, {.caption = "What would look like this"}));
  return document;
}

std::string training_expectation_json(const TrainingExpectation& found, Form form) {
  return object_text(form, "hbench expect --measured --json", found, expectation_fields);
}

}  // namespace hbench
