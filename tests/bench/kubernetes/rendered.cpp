/// Prints what is rendered for Kubernetes, for the scripts beside this file: rendered plain|full|claimed|hostile|image

#include <fmt/format.h>

#include <string_view>

#include "tests/bench/kubernetes/submissions.hpp"

int main(int count, char** arguments) {
  using namespace hbench;
  const std::string_view name = count == 2 ? arguments[1] : "";
  Submission submission = name == "full" ? full_submission() : plain_submission();
  if (name == "hostile") submission = hostile_submission();
  if (name == "image") submission = short_submission();
  if (name == "claimed") submission.options["claim"] = "shared";
  fmt::print("{}", kKubernetesEngine.render(submission));
}
