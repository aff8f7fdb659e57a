#pragma once

#include <string>

#include "collectives/base/error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench {

/// `call` must throw an `Error` with this code, a one-line message like `message` and a hint like `hint`.
template <class Call>
void expect_error(Call call, ExitCode code, const ::testing::Matcher<std::string>& message,
                  const ::testing::Matcher<std::string>& hint = Not(IsEmpty())) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), message);
    EXPECT_THAT(error.hint(), hint);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

/// `message / hint` of the `Error` of this code that `call` throws; empty where it throws none.
template <class Call>
std::string refusal_of(Call call, ExitCode code = ExitCode::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return std::string(error.what()) + " / " + error.hint();
  }
  return "";
}

/// `action` throws a usage Error with exactly this message, and a hint that contains `hint`.
template <class Action>
void expect_usage_error(Action action, const std::string& message, const std::string& hint) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_THAT(error.hint(), HasSubstr(hint)) << message;
    EXPECT_EQ(error.code(), ExitCode::usage) << message;
  }
}

}  // namespace hbench
