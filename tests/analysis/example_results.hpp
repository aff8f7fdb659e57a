#pragma once

#include <string>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// A case in which every field has a value of its own.
Case example_case(Evidence evidence = Evidence::measured);

/// Samples `step_seconds` in launch-major order: `steps[launch][iteration][rank]`.
std::vector<Sample> steps(const std::vector<std::vector<std::vector<double>>>& steps);

Sample figure(std::string metric, double value);

/// A done case of 4 GPUs with `count` samples that all differ; `number` makes it unlike others.
CaseResult example_result(int number, int count = 3);

/// Everything that a result holds, as text, for comparisons that show where they fail.
std::string text_of(const CaseResult& result);
std::vector<std::string> texts_of(const std::vector<CaseResult>& results);

}  // namespace hbench
