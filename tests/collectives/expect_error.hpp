#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collectives/base/error.hpp"

namespace hbench::testing {

/// `action` throws a usage Error with exactly this message, and a hint that contains `hint`.
template <class Action>
void expect_usage_error(Action action, const std::string& message, const std::string& hint) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_THAT(error.hint(), ::testing::HasSubstr(hint)) << message;
    EXPECT_EQ(error.code(), ExitCode::usage) << message;
  }
}

}  // namespace hbench::testing
