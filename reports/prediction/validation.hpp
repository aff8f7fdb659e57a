#pragma once

#include <string>
#include <vector>

#include "analysis/prediction/validate.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// By cluster and by strategy, with `each` also each figure; what that says of figures that calibrated nothing, and of
/// bands. \pre there are some.
Document validation_document(const std::vector<Validation>& all, bool each = false);
/// The same for machines.
std::string validation_json(const std::vector<Validation>& all, Form form = Form::values);

}  // namespace hbench
