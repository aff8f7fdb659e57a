#include "bench/verbs/filter_options.hpp"

namespace hbench {
namespace {

std::vector<std::string> list(const std::optional<std::string>& text, std::string_view flag) {
  return text ? split_list(*text, flag) : std::vector<std::string>();
}

/// A label such as `ps (sliced, dedicated)` has commas of its own: only those outside parentheses separate items.
std::vector<std::string> list_of_labels(const std::optional<std::string>& text, std::string_view flag) {
  std::vector<std::string> items;
  for (const std::string& part : list(text, flag)) {
    const bool inside = !items.empty() && items.back().rfind('(') != std::string::npos &&
                        items.back().find(')', items.back().rfind('(')) == std::string::npos;
    if (inside)
      items.back() += ',' + part;
    else
      items.push_back(part);
  }
  return items;
}

}  // namespace

void add_filter_options(Arguments& app, FilterTexts& texts) {
  app.add_option("--workload", texts.workload, "only these workloads (comma list)");
  app.add_option("--profile", texts.profile, "only these cluster profiles; 'local' is this machine (comma list)");
  app.add_option("--evidence", texts.evidence, "only measured, emulated, simulated, published (comma list)");
  app.add_option("--strategy", texts.strategy,
                 "only these algorithms, or strategies whose label has this part: ps, sliced, fp16 (comma list)");
}

PointFilter parse_filter(const FilterTexts& texts) {
  PointFilter filter;
  filter.workloads = list(texts.workload, "--workload");
  filter.profiles = list(texts.profile, "--profile");
  filter.strategies = list_of_labels(texts.strategy, "--strategy");
  for (const std::string& name : list(texts.evidence, "--evidence")) filter.evidence.insert(parse_evidence(name));
  return filter;
}

}  // namespace hbench
