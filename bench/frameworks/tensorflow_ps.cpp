#include "bench/frameworks/tensorflow.hpp"

namespace hbench {

extern const Framework kTensorflowPsFramework;
constinit const Framework kTensorflowPsFramework{
    .name = "tensorflow-ps",
    .summary = "TensorFlow's ParameterServerStrategy, asynchronous: a server that has a process of its own",
    .script = "tensorflow_ps_rank.py",
    .install = kInstallTensorflow,
    .preset = "tf-ps",
    .method = "async-ps",
    .servers = 1,
    .refuses = refuse_in_tensorflow,
};

}  // namespace hbench
