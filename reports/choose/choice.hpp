#pragma once

#include <string>
#include <vector>

#include "analysis/choose/choose.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Document choice_document(const Choice& choice);
/// Of several workloads first the answers, a line each, then a table with a row for each and, `with_details`, what is
/// said of each alone; all goals are of one currency. Of one workload `choice_document` of it. \pre there is one
Document choice_document(const std::vector<Choice>& choices, bool with_details);
std::string choice_json(const Choice& choice, Form form = Form::values);
/// Of several workloads an object with those of `choice_json` as `workloads`, in the same order; of one workload that
/// of `choice_json`, unless a schema is asked for.
std::string choice_json(const std::vector<Choice>& choices, Form form = Form::values);

}  // namespace hbench
