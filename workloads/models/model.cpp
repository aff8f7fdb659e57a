#include "workloads/models/model.hpp"

#include <ATen/ops/cross_entropy_loss.h>

#include <stdexcept>

namespace hbench {

at::Tensor Model::loss(const at::Tensor& images, const at::Tensor& labels) {
  return at::cross_entropy_loss(forward(images), labels);
}

std::vector<std::pair<std::string, at::Tensor>> Model::trained() {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& item : named_parameters()) all.emplace_back(item.key(), item.value());
  return all;
}

std::shared_ptr<Model> build_model(const ModelEntry& entry) {
  switch (entry.architecture) {
    case Architecture::resnet:
      return build_resnet(entry);
    case Architecture::vgg:
      return build_vgg(entry);
    case Architecture::inception:
      return build_inception(entry);
    case Architecture::mobilenet:
      return build_mobilenet(entry);
    case Architecture::lenet:
      return build_lenet(entry);
  }
  throw std::logic_error("an architecture without a builder");
}

}  // namespace hbench
