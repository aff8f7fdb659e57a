#pragma once

/// `hbench expect`: measured collectives, and a measured training, beside what their cluster lets expect.

#include <string>

#include "analysis/expect/expectation.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document expectation_document(const Expectation& expectation);
/// \throws nothing of its own; `form` as in `reports/rows/row.hpp`.
std::string expectation_json(const Expectation& expectation, Form form = Form::values);

Document training_expectation_document(const TrainingExpectation& expectation);
std::string training_expectation_json(const TrainingExpectation& expectation, Form form = Form::values);

}  // namespace hbench
