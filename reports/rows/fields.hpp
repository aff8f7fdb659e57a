#pragma once

/// Descriptions of values that several answers have.

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/request.hpp"
#include "analysis/records/machine_facts.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// The share of iterations that `count` is; null in JSON where nobody looked.
inline std::optional<double> share_of(std::size_t count, const ThrottledShare& among) {
  return if_known(among.iterations > 0, static_cast<double>(count) / static_cast<double>(among.iterations));
}

/// What was asked for and left out.
inline void refusal_fields(Row& row, const Refusal& refusal) {
  row.field("what", refusal.what);
  row.field("why", refusal.why);
}

/// A figure with the ends of its 90 % band: a `Band`, a `CellFigure`.
template <class Figure>
void band_fields(Row& row, const Figure& figure) {
  row.field("low", figure.low);
  row.field("stated", figure.stated);
  row.field("high", figure.high);
}

/// A figure and its band without what makes most of it.
inline void narrowed_fields(Row& row, const Narrowed& narrowed) {
  row.field("condition", narrowed.condition(), "such as 'input keeps up', which is for you to know");
  band_fields(row, narrowed.band);
}

}  // namespace hbench
