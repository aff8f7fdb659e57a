#pragma once

namespace hbench {

/// A user's own model of two tensors, 100 and 5000 elements; the smaller is ready first.
inline constexpr const char* kOwnTimeline = R"(
format = 1
title = "a model of mine"
source = "a test"
batch = 10
forward = "10 ms"
backward = "20 ms"
gradients = [["b", 100, 1000.0], ["a", 5000, 20000.0]]
)";

}  // namespace hbench
