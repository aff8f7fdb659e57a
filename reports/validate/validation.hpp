#pragma once

#include <string>
#include <vector>

#include "analysis/prediction/validate.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// How far off predictions are, of figures that chose nothing in the model first; by cluster and by strategy, with
/// `each` also each figure; and what that says of bands. \pre there are some.
Document validation_document(const std::vector<Validation>& all, bool each = false);
/// The same for machines.
std::string validation_json(const std::vector<Validation>& all, Form form = Form::values);

}  // namespace hbench
