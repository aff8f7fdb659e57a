#include "tests/workloads/script_files.hpp"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/utils.h>

#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>

#include <fstream>

namespace hbench {

void write_script(const std::filesystem::path& file, const ScriptText& text) {
  using Flaw = ScriptText::Flaw;
  torch::manual_seed(1);
  torch::jit::Module module("TestModule");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const ScriptParameter& each : text.parameters) {
    at::Tensor values = each.value == 0 ? at::randn(each.sizes) * 0.1 : at::full(each.sizes, each.value);
    if (text.flaw == Flaw::half) values = values.to(at::kHalf);
    module.register_parameter(each.name, values.set_requires_grad(text.flaw != Flaw::no_gradients), false);
  }
  module.define(text.code);
  if (text.flaw == Flaw::frozen) module = torch::jit::freeze(module);
  module.save(file.string());
}

void write_weights(const std::filesystem::path& file) {
  const std::vector<char> bytes = torch::jit::pickle_save(at::randn({2, 3}));
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

ScriptText small_classifier() {
  return {.parameters = {{"filters", {4, 1, 3, 3}}, {"weights", {10, 4}}, {"bias", {10}}},
          .code =
              "def forward(self, x):\n"
              "    x = torch.relu(torch.conv2d(x, self.filters)).mean([2, 3])\n"
              "    return torch.matmul(x, self.weights.t()) + self.bias\n"};
}

}  // namespace hbench
