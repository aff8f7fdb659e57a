#include "reports/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "analysis/points/unknowns.hpp"
#include "analysis/records/words.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Selection = std::vector<const Validation*>;

/// An error within which a prediction is of use to somebody who compares networks.
constexpr double kSmallError = 0.15;

/// How far the predictions of a selection are off.
struct Errors {
  ErrorSizes sizes;
  double small = 0;  ///< share within `kSmallError`
  double held = 0;   ///< share within their bands
};

Errors errors_of(const Selection& some) {
  Errors errors;
  std::vector<double> signed_errors;
  for (const Validation* each : some) {
    signed_errors.push_back(each->error());
    errors.small += std::fabs(each->error()) <= kSmallError ? 1 : 0;
    errors.held += each->held() ? 1 : 0;
  }
  const auto count = static_cast<double>(some.size());
  errors.small /= count;
  errors.held /= count;
  errors.sizes = error_sizes(std::move(signed_errors));
  return errors;
}

/// What figures have chosen (bench/guide/formats.md), as far as its name does not say it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kChoices{
    {{"lost-share", "the share that steps of frameworks lose"},
     {"preset", "a cost of their framework"},
     {"profile", "a figure of their profile"},
     {"range", "figures of their profile within what other sources say"}}};

std::string_view choice_in_words(std::string_view chosen) {
  const auto known = std::ranges::find(kChoices, chosen, [](const auto& each) { return each.first; });
  return known == kChoices.end() ? chosen : known->second;
}

/// `nothing` of those that test the model most.
std::string chosen_in_words(const std::string& chosen) { return chosen.empty() ? "nothing" : chosen; }

/// A row for each group of figures with one name; those with which something was chosen apart.
Table table_by(std::string name, const Selection& all, const std::function<std::string(const Case&)>& name_of) {
  Table table{.caption = fmt::format("By {}", name),
              .columns = {std::move(name), "chosen with them", numbers("figures"), numbers("mean error"),
                          numbers("median", 2), numbers("largest"), numbers("within 15 %", 1), numbers("in the band")}};
  std::map<std::pair<std::string, std::string>, Selection> groups;
  for (const Validation* each : all) groups[{each->chosen, name_of(each->asked)}].push_back(each);
  for (const auto& [group, some] : groups) {
    const Errors errors = errors_of(some);
    table.rows.push_back({group.second, chosen_in_words(group.first), std::to_string(some.size()),
                          percent(errors.sizes.mean), percent(errors.sizes.median), percent(errors.sizes.largest),
                          percent(errors.small), percent(errors.held)});
  }
  return table;
}

/// One figure beside its prediction.
void figure_fields(Row& row, const Validation& each) {
  const Case& asked = each.asked;
  const double samples = asked.batch_per_gpu * asked.gpus;
  const auto samples_per_second = [samples](double seconds) { return fmt::format("{:.4g}", samples / seconds); };
  row.field("workload", asked.workload).in("workload");
  row.field("cluster", asked.profile, "its profile").in("cluster");
  row.field("gpus", asked.gpus).in("GPUs");
  row.field("batch_per_gpu", asked.batch_per_gpu).in("batch", 2);
  row.field("strategy", asked.strategy.label()).in("strategy");
  row.field("published_step_seconds", each.published).in("published", samples_per_second, 1);
  row.field("predicted_step_seconds", each.predicted).in("predicted", samples_per_second, 1);
  row.field("profile_low_seconds", each.better, "with the better figures of its profile");
  row.field("profile_high_seconds", each.worse, "with the worse figures of its profile");
  row.field("communication_share", each.residual.communication, "of the step, with a collective in flight");
  row.field("throughput_error", each.error(), "predicted / published - 1").in("error", signed_percent);
  row.field("low_seconds", each.low, "of the 90 % band");
  row.field("high_seconds", each.high, "of the 90 % band");
  row.field("in_band", each.held(), "of 90 %").in("in the band");
  row.field(
      "most_of_band",
      if_stated(each.residual.unknowns.empty() ? std::string_view() : in_words(largest(each.residual.unknowns).kind)),
      "the unknown that makes most of it");
  row.field("calibrated", !each.chosen.empty(), "whether something of the model was chosen with it");
  row.field("chosen", if_stated(each.chosen), "what that was: guide/formats.md").in("chosen with it", 2);
  row.field("source", asked.source).in("source", 3);
}

std::string errors_in_words(const Selection& some) {
  const ErrorSizes sizes = errors_of(some).sizes;
  return fmt::format("mean error {}, median {}", percent(sizes.mean), percent(sizes.median));
}

std::string held_in_words(const Selection& some) {
  const Errors errors = errors_of(some);
  return fmt::format("{} are within 15 %, {} in their {:.0f} % band", percent(errors.small), percent(errors.held),
                     100 * kBandLevel);
}

/// On more GPUs than one node has, and on many, less is published and predictions are further off.
constexpr int kOfANode = 8, kMany = 64;

Selection above(const Selection& all, int gpus) {
  Selection some;
  std::ranges::copy_if(all, std::back_inserter(some), [&](const Validation* each) { return each->asked.gpus > gpus; });
  return some;
}

/// The figures with which nothing was chosen, and the predictions of others without what was.
std::vector<Validation> without_choices(const std::vector<Validation>& all) {
  std::vector<Validation> figures;
  for (const Validation& each : all) {
    if (!each.chosen.empty() && !each.left_out) continue;
    Validation& figure = figures.emplace_back(each);
    if (each.left_out) static_cast<StepBesideFigure&>(figure) = *each.left_out;
  }
  return figures;
}

/// `; above 8 GPUs 12.6 % (83)`, where these are some of `all`.
std::string larger_in_words(const Selection& all) {
  const Selection larger = above(all, kOfANode);
  if (larger.empty() || larger.size() == all.size()) return "";
  return fmt::format("; above {} GPUs {} ({})", kOfANode, percent(errors_of(larger).sizes.mean), larger.size());
}

/// The error that tests the model most comes first, with that of jobs that one node does not do.
std::string verdict(const std::vector<Validation>& all, const std::map<std::string, Selection>& by_choice) {
  const std::vector<Validation> unused = without_choices(all);
  Selection tests, figures;
  for (const Validation& each : unused) tests.push_back(&each);
  for (const Validation& each : all) figures.push_back(&each);
  std::string text;
  if (!tests.empty()) {
    const auto left_out =
        std::ranges::count_if(unused, [](const Validation& each) { return each.left_out.has_value(); });
    text = fmt::format("{} that chose nothing{}: {}{}. {}. ", counted(std::ssize(tests), "figure"),
                       left_out > 0 ? fmt::format(" ({} without what they chose)", left_out) : "",
                       errors_in_words(tests), larger_in_words(tests), held_in_words(tests));
  }
  for (const auto& [chosen, some] : by_choice)
    if (!chosen.empty())
      text += fmt::format("{} that chose {}: {}{}. {}. ", counted(std::ssize(some), "figure"), choice_in_words(chosen),
                          errors_in_words(some), larger_in_words(some), held_in_words(some));
  if (const Selection many = above(figures, kMany - 1); !many.empty() && above(tests, kMany - 1).empty())
    text += fmt::format("On {} GPUs and more there are {}, of which none chose nothing: mean error {}.", kMany,
                        counted(std::ssize(many), "figure"), percent(errors_of(many).sizes.mean));
  return text;
}

/// A class of figures whose bands are asked about.
struct FigureClass {
  std::string_view name;
  bool (*has)(const Validation& each);
};

constexpr std::array kClasses{
    FigureClass{"mixed precision", [](const Validation& each) { return each.mixed_precision; }},
    FigureClass{"compressor", [](const Validation& each) { return each.asked.strategy.compresses(); }},
    FigureClass{"computed timeline", [](const Validation& each) { return each.computed_timeline; }},
    FigureClass{"transport not stated", [](const Validation& each) { return each.assumed_links; }},
    FigureClass{"parameter servers", [](const Validation& each) { return each.asked.strategy.uses_servers(); }},
};

/// The more GPUs, the less is published.
constexpr std::array kSizes{
    FigureClass{"up to 8 GPUs", [](const Validation& each) { return each.asked.gpus <= kOfANode; }},
    FigureClass{"9 to 63 GPUs",
                [](const Validation& each) { return each.asked.gpus > kOfANode && each.asked.gpus < kMany; }},
    FigureClass{"64 GPUs and more", [](const Validation& each) { return each.asked.gpus >= kMany; }}};

bool in_any_class(const Validation& each) {
  return std::ranges::any_of(kClasses, [&](const FigureClass& figures) { return figures.has(each); });
}

/// Predictions of one kind, and whether bands hold them that are as wide as other sources, or frameworks, ask for.
struct Judged {
  std::vector<StepBesideFigure> predictions;
  std::vector<bool> held, held_by_cluster;
};

Judged judged(std::vector<StepBesideFigure> predictions, ResidualGroup group) {
  std::vector<Residual> residuals;
  for (const StepBesideFigure& each : predictions) residuals.push_back(each.residual);
  return {std::move(predictions), held_elsewhere(residuals, group), held_elsewhere(residuals, &Residual::cluster)};
}

/// Fewer say little of the next.
constexpr std::size_t kFewestSources = 5;

/// A row of the table of classes: those of `all` that `chosen` has.
std::vector<std::string> class_row(std::string_view name, const Judged& all, const std::vector<bool>& chosen) {
  std::vector<Residual> residuals;
  std::vector<double> errors, held, held_by_cluster, widths, scores;
  std::set<std::string> sources;
  for (std::size_t i = 0; i < all.predictions.size(); ++i) {
    if (!chosen[i]) continue;
    const StepBesideFigure& each = all.predictions[i];
    residuals.push_back(each.residual);
    errors.push_back(std::fabs(each.error()));
    held.push_back(all.held[i] ? 1 : 0);
    held_by_cluster.push_back(all.held_by_cluster[i] ? 1 : 0);
    widths.push_back(each.high / each.low);
    scores.push_back(interval_score(each.low, each.high, each.published));
    sources.insert(each.residual.source);
  }
  if (residuals.empty())
    return {std::string(name), "0", "0", "-", "-", "-", "-", "-", "-", "no figure here tests its band"};
  return {std::string(name),
          std::to_string(residuals.size()),
          std::to_string(sources.size()),
          percent(mean_over(residuals, &Residual::source, errors)),
          percent(quantile_over(residuals, &Residual::source, errors, 0.5)),
          percent(mean_over(residuals, &Residual::source, held)),
          percent(mean_over(residuals, &Residual::cluster, held_by_cluster)),
          fmt::format("{:.2f}", quantile_over(residuals, &Residual::source, widths, 0.5)),
          fmt::format("{:.2f}", mean_over(residuals, &Residual::source, scores)),
          sources.size() < kFewestSources ? "few sources: its band rests on what is assumed" : ""};
}

/// By what is not known of figures; none where there is one source.
Table class_table(const std::vector<Validation>& all) {
  Table table{.caption = "By what is not known, in bands as wide as the other sources ask for, sources counting alike",
              .columns = {"class", numbers("figures"), numbers("sources"), numbers("mean error"), numbers("median"),
                          numbers("in these bands"), numbers("clusters alike", 2), numbers("high / low"),
                          numbers("score", 1), texts("note", 1)}};
  std::vector<StepBesideFigure> stated, unnamed, starts, same_stated;
  for (const Validation& each : all) {
    stated.push_back(each);
    if (each.unnamed) unnamed.push_back(*each.unnamed);
    if (each.from_node) starts.push_back(*each.from_node), same_stated.push_back(each);
  }
  const Judged by_source = judged(stated, &Residual::source);
  const auto add = [&](std::string_view name, const Judged& judged, const std::vector<bool>& chosen) {
    table.rows.push_back(class_row(name, judged, chosen));
  };
  add("all", by_source, std::vector<bool>(all.size(), true));
  std::vector<bool> rest;
  for (const Validation& each : all) rest.push_back(!in_any_class(each));
  add("none of these classes", by_source, rest);
  const auto add_class = [&](const FigureClass& figures) {
    std::vector<bool> chosen;
    for (const Validation& each : all) chosen.push_back(figures.has(each));
    add(figures.name, by_source, chosen);
  };
  std::ranges::for_each(kClasses, add_class);
  std::ranges::for_each(kSizes, add_class);
  const auto add_all = [&](std::string_view name, const std::vector<StepBesideFigure>& some, ResidualGroup group) {
    if (!some.empty()) add(name, judged(some, group), std::vector<bool>(some.size(), true));
  };
  add_all("framework left out", unnamed, &Residual::framework);
  add_all("several nodes", same_stated, &Residual::source);
  add_all("the same from a full node", starts, &Residual::source);
  return table;
}

/// An error of a source beyond which a reader wants to know what it says of its set-up.
constexpr double kFarOff = 0.2;

/// What a citation says after its address: `2018; user report`.
std::string remark_of(const Case& asked) {
  const std::size_t open = asked.source.find('('), close = asked.source.rfind(')');
  return open < close && close != std::string::npos ? asked.source.substr(open + 1, close - open - 1) : "";
}

/// Sources that are far off, with what their furthest figure says of its set-up; the furthest first.
Table far_table(const std::vector<Validation>& all) {
  Table table{
      .caption = "Sources that are off by more than a fifth, and what their furthest figure says of its set-up",
      .columns = {"source", numbers("figures", 1), numbers("mean error"), numbers("furthest", 2), "what it says"}};
  std::map<std::string, Selection> sources;
  for (const Validation& each : all) sources[each.residual.source].push_back(&each);
  std::vector<std::pair<double, std::vector<std::string>>> rows;
  for (const auto& [source, some] : sources) {
    const Validation& furthest =
        **std::ranges::max_element(some, {}, [](const Validation* each) { return std::fabs(each->error()); });
    if (const double mean = errors_of(some).sizes.mean; mean > kFarOff)
      rows.push_back({-mean,
                      {source, std::to_string(some.size()), percent(mean), signed_percent(furthest.error()),
                       remark_of(furthest.asked)}});
  }
  std::ranges::sort(rows);
  for (auto& [order, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

/// What the mean over sources would be without those that are far off; all of them count.
std::string far_in_words(const std::vector<Validation>& all, const Table& far) {
  std::vector<Residual> residuals;
  std::vector<double> errors;
  for (const Validation& each : all) {
    if (std::ranges::any_of(far.rows, [&](const auto& row) { return row[0] == each.residual.source; })) continue;
    residuals.push_back(each.residual);
    errors.push_back(std::fabs(each.error()));
  }
  if (residuals.empty()) return "";
  return fmt::format(
      "They count in all figures here: what they say of their set-up, no profile has. Over the other sources the mean "
      "error is {}.",
      percent(mean_over(residuals, &Residual::source, errors)));
}

/// A kind of pairs whose bands are asked about.
struct PairClass {
  std::string_view name;
  bool (*has)(const ValidatedPair& each);
};

constexpr std::array kPairClasses{
    PairClass{"pairs", [](const ValidatedPair&) { return true; }},
    PairClass{"pairs: all-reduce and servers", [](const ValidatedPair& each) { return each.servers; }},
    PairClass{"pairs: compressor and none", [](const ValidatedPair& each) { return each.compressor; }},
    PairClass{"pairs: neither of these", [](const ValidatedPair& each) { return !each.servers && !each.compressor; }}};

/// The ratio of two strategies of one source on one cluster, as a step of its own.
StepBesideFigure as_step(const ValidatedPair& pair) {
  return {.published = pair.published,
          .predicted = pair.lead.ratio,
          .low = pair.lead.low,
          .high = pair.lead.high,
          .residual = pair.residual};
}

void add_pairs(Table& table, const std::vector<ValidatedPair>& pairs) {
  if (pairs.empty()) return;
  std::vector<StepBesideFigure> ratios;
  for (const ValidatedPair& each : pairs) ratios.push_back(as_step(each));
  const bool one_source = std::ranges::all_of(
      ratios, [&](const StepBesideFigure& each) { return each.residual.source == ratios[0].residual.source; });
  if (one_source) return;
  const Judged all = judged(ratios, &Residual::source);
  for (const PairClass& kind : kPairClasses) {
    std::vector<bool> chosen;
    for (const ValidatedPair& each : pairs) chosen.push_back(kind.has(each));
    table.rows.push_back(class_row(kind.name, all, chosen));
  }
}

/// Returns `54 of 56 pairs that are predicted ahead have this order in their source, ...`; empty where there are none.
std::string orders_in_words(const std::vector<ValidatedPair>& pairs) {
  if (pairs.empty()) return "";
  const auto of = [&](LeadVerdict verdict) {
    std::size_t all = 0, right = 0;
    for (const ValidatedPair& each : pairs) {
      if (each.lead.verdict() != verdict) continue;
      ++all;
      right += each.in_order() ? 1 : 0;
    }
    return fmt::format("{} of {}", right, all);
  };
  return fmt::format(
      "Who is ahead, of two strategies of one source on one cluster: {} pairs that are predicted ahead have this "
      "order, {} that are likely ahead, and {} that are level.",
      of(LeadVerdict::ahead), of(LeadVerdict::likely), of(LeadVerdict::level));
}

std::string scale_in_words(const std::vector<Validation>& all) {
  std::vector<Residual> residuals;
  for (const Validation& each : all) residuals.push_back(each.residual);
  return fmt::format(
      "The band of a step is what its unknowns make (guide/predict.md). For {:.0f} % of the figures of the "
      "next source it would have to be {:.2f} times as wide as predictions have it; of the next cluster {:.2f} times.",
      100 * kBandLevel, fit_scale(residuals, &Residual::source), fit_scale(residuals, &Residual::cluster));
}

/// Figures that are clearly faster than that many GPUs alone, which none is that was measured as its baseline was.
std::string too_fast(const std::vector<Validation>& all) {
  constexpr double kClearly = 1.1;
  std::vector<std::string> names;
  for (const Validation& each : all)
    if (const double times = each.faster_than_alone(); times > kClearly)
      names.push_back(fmt::format("{} on {} GPUs of {} ({:.3g} times)", each.asked.workload, each.asked.gpus,
                                  each.asked.profile, times));
  if (names.empty()) return "";
  return fmt::format("faster than as many GPUs alone: {}: are throughput and baseline of one batch and precision?",
                     some_of(names, 3, "; "));
}

/// Whether the width of bands can be tried on the sources: few say nothing of each other, as rows of one's own.
bool enough_sources(const std::vector<Validation>& all) {
  std::set<std::string> sources, clusters;
  for (const Validation& each : all) {
    sources.insert(each.residual.source);
    clusters.insert(each.residual.cluster);
  }
  return sources.size() >= kFewestSources && clusters.size() > 1;
}

}  // namespace

Document validation_document(const std::vector<Validation>& all, bool each) {
  std::map<std::string, Selection> by_choice;
  for (const Validation& figure : all) by_choice[figure.chosen].push_back(&figure);
  Selection in_order;
  for (const auto& [chosen, some] : by_choice) std::ranges::copy(some, std::back_inserter(in_order));
  Document document{.title = "Predictions beside published figures"};
  document.blocks.emplace_back(Paragraph{verdict(all, by_choice)});
  if (std::string text = too_fast(all); !text.empty()) document.blocks.emplace_back(Warnings{{std::move(text)}});
  document.blocks.emplace_back(table_by("cluster", in_order, [](const Case& asked) { return asked.profile; }));
  document.blocks.emplace_back(
      table_by("strategy", in_order, [](const Case& asked) { return asked.strategy.label(); }));
  if (each) document.blocks.emplace_back(table_of(in_order, figure_fields, {.caption = "Each figure"}));
  if (!enough_sources(all)) return document;
  Table classes = class_table(all);
  const std::vector<ValidatedPair> pairs = pairs_of(all);
  add_pairs(classes, pairs);
  document.blocks.emplace_back(std::move(classes));
  document.blocks.emplace_back(Paragraph{scale_in_words(all)});
  if (Table far = far_table(all); !far.rows.empty()) {
    const std::string others = far_in_words(all, far);
    document.blocks.emplace_back(std::move(far));
    document.blocks.emplace_back(Paragraph{others});
  }
  if (const std::string orders = orders_in_words(pairs); !orders.empty())
    document.blocks.emplace_back(Paragraph{orders});
  return document;
}

std::string validation_json(const std::vector<Validation>& all, Form form) {
  return rows_text(form, "hbench validate --json", all, figure_fields);
}

}  // namespace hbench
