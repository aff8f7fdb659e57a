#pragma once

/// What TensorFlow's frameworks share.

#include "bench/frameworks/framework.hpp"

namespace hbench {

inline constexpr std::string_view kInstallTensorflow = "python3 -m pip install tensorflow-cpu";

/// Why the ranks' scripts have no such network; empty where they have.
std::string_view refuse_in_tensorflow(const ModelEntry& model);

}  // namespace hbench
