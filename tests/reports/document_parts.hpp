#pragma once

/// Parts of documents, for expectations.

#include <string>
#include <variant>
#include <vector>

#include "reports/document/document.hpp"

namespace hbench {

/// All blocks of one kind, in order.
template <class T>
std::vector<T> all_of(const Document& document) {
  std::vector<T> found;
  for (const Block& block : document.blocks)
    if (const T* one = std::get_if<T>(&block)) found.push_back(*one);
  return found;
}

/// Labels of the series that a reader sees at first.
inline std::vector<std::string> shown_labels(const Chart& chart) {
  std::vector<std::string> labels;
  for (const Series& series : chart.series)
    if (series.shown) labels.push_back(series.label);
  return labels;
}

}  // namespace hbench
