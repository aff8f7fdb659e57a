#pragma once

#include <string>
#include <vector>

#include "analysis/fit/fit_curve.hpp"
#include "analysis/fit/fit_profile.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// The figures with what is known of them, and how far predictions are off: before, after, and of rows left out.
Document fit_document(const FittedProfile& fitted, const std::string& file, bool each);
/// The same for machines, with the file that the profile was written to.
std::string fit_json(const FittedProfile& fitted, const std::string& written_to, Form form = Form::values);

/// The figures before and after, and how far the model is from the curve; `notes` are printed below.
Document curve_fit_document(const CurveFit& fitted, const std::vector<std::string>& notes);
/// The same for machines.
std::string curve_fit_json(const CurveFit& fitted, const std::vector<std::string>& notes, const std::string& written_to,
                           Form form = Form::values);

}  // namespace hbench
