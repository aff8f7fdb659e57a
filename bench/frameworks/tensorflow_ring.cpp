#include "bench/frameworks/tensorflow.hpp"

namespace hbench {

std::string_view refuse_in_tensorflow(const ModelEntry& model) {
  if (model.architecture != Architecture::inception) return "";
  return "TensorFlow's Inception V3 has other layers than torchvision's, and 3 million parameters less";
}

extern const Framework kTensorflowRingFramework;
constinit const Framework kTensorflowRingFramework{
    .name = "tensorflow-ring",
    .summary = "TensorFlow's MultiWorkerMirroredStrategy, whose ring sends over gRPC",
    .script = "tensorflow_ring_rank.py",
    .install = kInstallTensorflow,
    .preset = "tf2-collective",
    .refuses = refuse_in_tensorflow,
};

}  // namespace hbench
