#include "reports/expect/expectation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/points/collectives.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

constexpr std::string_view kWordsOfVerdicts = "pass, slow, fast, error or inconclusive";
/// A band from which the figure that makes it so wide is named.
constexpr double kWide = 3;

std::string size_text(const ExpectedSize& size) {
  return exact_text(Bytes(static_cast<double>(size.asked.collective.bytes)));
}

/// GB/s as nccl-tests counts them.
double bus_bandwidth(const ExpectedSize& size, double seconds) {
  return static_cast<double>(size.asked.collective.bytes) / seconds / 1e9 *
         bus_factor(size.asked.collective.name, size.asked.gpus);
}

std::string verdict_on(const ExpectedSize& size) {
  if (!size.measured) return "-";
  const Normality normality = size.normality();
  if (normality == Normality::slow) return fmt::format("slow, {:.2g} times as long", size.ratio());
  if (normality == Normality::inconclusive) return fmt::format("inconclusive: {:.2g} times as long", size.ratio());
  return normality == Normality::error ? "error: faster than possible" : std::string(to_string(normality));
}

void size_fields(Row& row, const ExpectedSize& size) {
  const Case& asked = size.asked;
  const bool known = size.measured.has_value();
  row.field("collective", asked.collective.name).in("collective", 2);
  row.field("bytes", asked.collective.bytes).in("size", row.form() == Form::values ? size_text(size) : "");
  row.field("ranks", asked.gpus).in("ranks", 1);
  row.field("nodes", asked.nodes).in("nodes", 1);
  row.field("measured_seconds", size.measured, "the sooner of in place and out of place")
      .in("measured (us)", microseconds);
  row.field("expected_seconds", size.expected).in("expected (us)", microseconds);
  row.field("low_seconds", size.low, "of the 90 % band");
  row.field("high_seconds", size.high, "of the 90 % band");
  if (row.form() == Form::values)
    row.number("90 % band (us)", fmt::format("{} - {}", microseconds(size.low), microseconds(size.high)));
  row.field("floor_seconds", size.floor, "in which the bytes pass the links at their line rate, once");
  row.field("basis", size.basis, "a measured curve, or the model").in("known by", 2);
  if (row.form() == Form::values) {
    const double of = bus_bandwidth(size, size.expected);
    row.number("expected busbw (GB/s)", fmt::format("{:.4g}", of), 1);
    if (known) row.number("busbw (GB/s)", fmt::format("{:.4g}", bus_bandwidth(size, *size.measured)), 1);
  }
  row.field("ratio", known ? std::optional(size.ratio()) : std::nullopt, "measured / expected");
  row.field("verdict", known ? std::optional(std::string(to_string(size.normality()))) : std::nullopt,
            kWordsOfVerdicts);
  if (known) row.words("verdict", verdict_on(size));
}

void suspicion_fields(Row& row, const Suspicion& suspicion) {
  row.field("what", suspicion.what).in("it looks like");
  row.field("off", suspicion.off, "mean |ln| of measured / expected of the sizes in doubt, if it is that")
      .in("off by", [](double off) { return percent(std::expm1(off)); });
  row.field("check", suspicion.check).in("what shows it");
}

using Sizes = std::vector<const ExpectedSize*>;

Sizes with(const Expectation& expectation, Normality normality) {
  Sizes some;
  for (const ExpectedSize& size : expectation.sizes)
    if (size.measured && size.normality() == normality) some.push_back(&size);
  return some;
}

std::string of_which(const Sizes& sizes) {
  if (sizes.size() == 1) return size_text(*sizes.front());
  return fmt::format("{} from {} to {}", sizes.size(), size_text(*sizes.front()), size_text(*sizes.back()));
}

double middle_ratio(const Sizes& sizes) {
  double sum = 0;
  for (const ExpectedSize* size : sizes) sum += std::log(size->ratio());
  return std::exp(sum / static_cast<double>(sizes.size()));
}

/// The best, with those that the model's own error of times of collectives does not tell from it.
std::string nearest_in_words(const std::vector<Suspicion>& suspicions) {
  constexpr double kModelError = 0.2;
  std::vector<std::string_view> near;
  for (const Suspicion& each : suspicions)
    if (each.off <= suspicions.front().off + kModelError) near.push_back(each.what);
  if (near.size() == 1) return std::string(near.front());
  return fmt::format("{} (below: what tells them apart)", fmt::join(near, ", or "));
}

std::string verdict_on_times(const Expectation& expectation) {
  const auto measured =
      std::ranges::count_if(expectation.sizes, [](const auto& each) { return each.measured.has_value(); });
  if (measured == 0) {
    const ExpectedSize& last = expectation.sizes.back();
    return fmt::format("{} of {} on {} GPUs of {} takes {} ({} to {} us), {:.4g} GB/s of bus bandwidth.",
                       last.asked.collective.name, size_text(last), last.asked.gpus, expectation.profile,
                       microseconds(last.expected) + " us", microseconds(last.low), microseconds(last.high),
                       bus_bandwidth(last, last.expected));
  }
  if (const Sizes some = with(expectation, Normality::error); !some.empty())
    return fmt::format(
        "Error: {}, sooner than the links of {} carry the bytes at all. Is it another cluster, another unit, or "
        "another number of ranks?",
        of_which(some), expectation.profile);
  const Sizes slow = with(expectation, Normality::slow), fast = with(expectation, Normality::fast);
  const Sizes unclear = with(expectation, Normality::inconclusive);
  std::string text =
      fmt::format("{} of {} pass for {}.", measured - std::ssize(slow) - std::ssize(fast) - std::ssize(unclear),
                  counted(measured, "size"), expectation.profile);
  if (!slow.empty())
    text += fmt::format(" Slow: {}, {:.2g} times as long as expected.", of_which(slow), middle_ratio(slow));
  if (!unclear.empty())
    text += fmt::format(
        " Inconclusive: {}, {:.2g} times as long as expected. As far as the library and the network are modelled, "
        "anything from {} to {} us of {} would be normal: the same on nodes that are well, for hbench calibrate "
        "--from, says more.",
        of_which(unclear), middle_ratio(unclear), microseconds(unclear.back()->low), microseconds(unclear.back()->high),
        size_text(*unclear.back()));
  if (!expectation.suspicions.empty())
    text += fmt::format(" {} {}.", slow.empty() ? "It may be this:" : "It looks like",
                        nearest_in_words(expectation.suspicions));
  else if (!slow.empty())
    text += " None of the usual causes explains it.";
  if (!fast.empty())
    text += fmt::format(" Fast: {}, {:.2g} times as fast as expected.", of_which(fast), 1 / middle_ratio(fast));
  return text;
}

std::string verdict(const Expectation& expectation) {
  const std::vector<std::string>& failures = expectation.failures;
  if (failures.empty()) return verdict_on_times(expectation);
  const std::string more = failures.size() > 1 ? fmt::format(", and {} more", failures.size() - 1) : "";
  return fmt::format("Failed: {}{}. {}", failures.front(), more, verdict_on_times(expectation));
}

void expectation_fields(Row& row, const Expectation& expectation) {
  row.field("schema", std::string("hbench-expect-1"));
  row.field("profile", expectation.profile);
  const std::optional<Normality> found = expectation.normality();
  const std::string_view word = !expectation.failures.empty() ? "failed" : found ? to_string(*found) : "";
  row.field("verdict", word.empty() ? std::nullopt : std::optional(std::string(word)),
            "failed where a result is, error or slow where a size is, else that of the largest");
  row.rows("sizes", expectation.sizes, size_fields);
  row.rows("suspicions", expectation.suspicions, suspicion_fields, "what explains the sizes in doubt, best first");
  row.field("notes", expectation.notes, "in sentences");
}

std::string rate_text(double samples_per_second) {
  return samples_per_second < 1000 ? fmt::format("{:.4g}", samples_per_second)
                                   : fmt::format("{:.0f}", samples_per_second);
}

std::string times_text(double ratio) {
  return ratio < 10 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio);
}

/// A cluster that is sick costs a factor of a few; a job that is another one than was asked for costs any.
constexpr double kMostSick = 8;

std::string verdict(const TrainingExpectation& found) {
  const Band whole{.low = found.low, .stated = found.expected, .high = found.high};
  const Band& band = found.narrowed ? found.narrowed->band : whole;
  const std::string expected = fmt::format("{} ({} to {}) samples/s{} are expected of {} GPUs of {}",
                                           rate_text(band.stated), rate_text(band.low), rate_text(band.high),
                                           found.narrowed ? found.narrowed->in_words(rate_text(found.low)) + "," : "",
                                           found.asked.gpus, found.asked.profile);
  const std::string measured = rate_text(found.measured);
  const std::string widest =
      fmt::format(" Most of so wide a band is {} (known by: {}).", found.widest, found.narrowed_by);
  switch (found.normality()) {
    case Normality::pass:
      return fmt::format("{} samples/s pass: {}.{}", measured, expected, found.high < kWide * found.low ? "" : widest);
    case Normality::inconclusive:
      if (found.is_usual())
        return fmt::format("{} samples/s may well be normal: {}.{}", measured, expected,
                           found.high < kWide * found.low ? "" : widest);
      return fmt::format("{} samples/s are inconclusive: {}, and {} may be {} times too few.{}", measured, expected,
                         measured, times_text(found.high / found.measured), widest);
    case Normality::fast:
      return fmt::format(
          "{} samples/s are fast: {}. A GPU is faster than the {} samples/s that are {} (give yours with "
          "--single-gpu-rate), or the batch, the sequence length or the precision is another.",
          measured, expected, rate_text(found.alone / found.asked.gpus), found.modelled ? "modelled" : "known of it");
    case Normality::error:
      return fmt::format(
          "{} samples/s are an error: at the peak of their arithmetic {} GPUs compute {}. Another unit "
          "(tokens), number of GPUs or precision?",
          measured, found.asked.gpus, rate_text(found.peak));
    case Normality::slow:
      break;
  }
  std::string best;
  if (!found.suspicions.empty() && !found.suspicions.front().fitted)
    best = fmt::format(" What explains it best: {}.", found.suspicions.front().what);
  else if (found.expected >= kMostSick * found.measured)
    best =
        " Nothing that is often wrong with a cluster costs so much: check first that the log counts samples of all "
        "GPUs, and that model and batch are these.";
  return fmt::format("{} samples/s are slow: {}, {} times as many.{}", measured, expected,
                     times_text(found.expected / found.measured), best);
}

void training_suspicion_fields(Row& row, const TrainingSuspicion& suspicion) {
  row.field("what", suspicion.what).in("where the time may have gone");
  row.field("expected_samples_per_second", suspicion.expected, "if it is that").in("samples/s then", rate_text);
  row.field("off", suspicion.off, "|ln| of measured / expected, if it is that").in("off by", [&](double off) {
    return suspicion.fitted ? std::string("fitted") : percent(std::expm1(off));
  });
  row.field("fitted", suspicion.fitted, "a figure of it was chosen so that it explains what was measured");
  row.field("check", suspicion.check).in("what shows it");
}

void training_expectation_fields(Row& row, const TrainingExpectation& found) {
  row.field("schema", std::string("hbench-expect-training-1"));
  row.field("workload", found.asked.workload);
  row.field("profile", found.asked.profile);
  row.field("gpus", found.asked.gpus);
  row.field("strategy", found.asked.strategy.label());
  row.field("measured_samples_per_second", found.measured);
  row.field("expected_samples_per_second", found.expected);
  row.field("low_samples_per_second", found.low, "of the 90 % band");
  row.field("high_samples_per_second", found.high, "of the 90 % band");
  row.object("narrowed", found.narrowed, narrowed_fields,
             "these without what makes most of the band, where it is wide");
  row.field("alone_samples_per_second", found.alone, "of GPUs that each train for themselves");
  row.field("communication_share", found.communication, "of the expected step, with a collective in flight");
  row.field("verdict", std::string(to_string(found.normality())), kWordsOfVerdicts);
  row.rows("suspicions", found.suspicions, training_suspicion_fields);
}

}  // namespace

Document expectation_document(const Expectation& expectation) {
  Document document;
  document.blocks.emplace_back(Verdict{verdict(expectation)});
  document.blocks.emplace_back(
      table_of(expectation.sizes, size_fields, {.caption = fmt::format("Expected of {}", expectation.profile)}));
  if (!expectation.suspicions.empty())
    document.blocks.emplace_back(
        table_of(expectation.suspicions, suspicion_fields, {.caption = "What would look like this"}));
  for (const std::string& note : expectation.notes) document.blocks.emplace_back(Paragraph{note});
  return document;
}

std::string expectation_json(const Expectation& expectation, Form form) {
  return object_text(form, "hbench expect --json", expectation, expectation_fields);
}

Document training_expectation_document(const TrainingExpectation& found) {
  Document document;
  document.blocks.emplace_back(Verdict{verdict(found)});
  document.blocks.emplace_back(Paragraph{fmt::format(
      "{}, {} samples per GPU, {}; without communication {} samples/s, and a collective is in flight for {} of a step.",
      found.asked.workload, found.asked.batch_per_gpu, found.asked.strategy.label(), rate_text(found.alone),
      percent(found.communication))});
  if (!found.suspicions.empty())
    document.blocks.emplace_back(
        table_of(found.suspicions, training_suspicion_fields, {.caption = "What would look like this"}));
  return document;
}

std::string training_expectation_json(const TrainingExpectation& found, Form form) {
  return object_text(form, "hbench expect --measured --json", found, training_expectation_fields);
}

}  // namespace hbench
