#pragma once

/// GoogleMock, and its matchers by the names by which all tests speak of them.

#include <gmock/gmock.h>

namespace hbench {

using testing::AllOf, testing::AnyOf, testing::Contains, testing::ContainsRegex, testing::DoubleEq, testing::DoubleNear,
    testing::Each, testing::ElementsAre, testing::ElementsAreArray, testing::EndsWith, testing::HasSubstr,
    testing::IsEmpty, testing::IsSupersetOf, testing::Not, testing::Pair, testing::SizeIs, testing::StartsWith,
    testing::StrEq, testing::UnorderedElementsAre;

}  // namespace hbench
