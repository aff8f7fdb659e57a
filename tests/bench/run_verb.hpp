#pragma once

/// Verbs of `hbench`, run in the process of the test.

#include <cstdio>
#include <string>
#include <vector>

#include "bench/command/verb.hpp"
#include "collectives/base/table.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench {

/// How a verb ended.
struct Ran {
  ExitCode code = ExitCode::internal;
  std::string out;
};

/// Runs `hbench <verb> <arguments>`. What it printed is dropped where it throws.
inline Ran run_verb(const std::string& verb, std::vector<std::string> arguments) {
  testing::internal::CaptureStdout();
  Ran ran;
  try {
    ran.code = find_entry(verbs(), verb, "verb").run({std::move(arguments), "hbench " + verb});
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  std::fflush(stdout);
  ran.out = testing::internal::GetCapturedStdout();
  return ran;
}

/// What `hbench <verb> <arguments>` prints; its exit code must be 0.
inline std::string printed_by(const std::string& verb, std::vector<std::string> arguments) {
  const Ran ran = run_verb(verb, std::move(arguments));
  EXPECT_EQ(ran.code, ExitCode::good);
  return ran.out;
}

/// `hbench <verb> <arguments>` is refused with a message like `message` and a hint like `hint`.
inline void expect_refused(const std::string& verb, const std::vector<std::string>& arguments,
                           const testing::Matcher<std::string>& message,
                           const testing::Matcher<std::string>& hint = Not(IsEmpty())) {
  expect_error([&] { run_verb(verb, arguments); }, ExitCode::usage, message, hint);
}

}  // namespace hbench
