#include <ATen/ops/cross_entropy_loss.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <optional>

#include "workloads/models/model.hpp"

namespace hbench {
namespace {

/// LibTorch's reason on one line, without its stacks of C++ and of TorchScript, at whose end it stands.
std::string reason_of(const std::exception& error) {
  constexpr std::string_view kMark = "RuntimeError: ";
  const auto* own = dynamic_cast<const c10::Error*>(&error);
  std::string words = own != nullptr ? own->what_without_backtrace() : error.what();
  if (const std::size_t mark = words.rfind(kMark); mark != words.npos) words.erase(0, mark + kMark.size());
  words.erase(std::min(words.find('\n'), words.size()));
  return words;
}

torch::jit::Module read_script(const std::string& file, at::Device place) {
  require_script(file);
  try {
    return torch::jit::load(file, place);
  } catch (const std::exception& error) {
    const std::string reason = reason_of(error);
    // Each archive of TorchScript has this entry.
    if (reason.find("constants.pkl") != reason.npos)
      throw no_script(file, "an archive without code (a state_dict or a module of torch.save, or of torch.export)");
    throw Error(ExitCode::usage, fmt::format("LibTorch cannot read {}: {}", model_file_name(file), reason),
                "save it by torch.jit of a PyTorch that is no newer than this LibTorch (hbench --version)");
  }
}

/// Calls a module. Operation by operation, as PyTorch's eager mode does: what TorchScript derives by itself gives all
/// gradients at once, at the end of the backward pass.
c10::IValue call(torch::jit::Module& module, std::vector<c10::IValue> inputs) {
  torch::jit::setGraphExecutorOptimize(false);
  return module.forward(std::move(inputs));
}

std::string in_words(const c10::IValue& value) {
  if (!value.isTensor()) return fmt::format("a {}", value.tagKind());
  return fmt::format("a tensor of {}", value.toTensor().dim() == 0
                                           ? "no dimension"
                                           : fmt::to_string(fmt::join(value.toTensor().sizes(), "x")));
}

class ScriptModel final : public Model {
 public:
  ScriptModel(const OwnModel& own, at::Device place) : own_(own), module_(read_script(own.file, place)) {
    find_parameters();
    module_.train();
    if (own_.loss.empty()) return;
    loss_ = read_script(own_.loss, place);
    if (loss_->parameters().size() > 0)
      throw cannot_train(own_.loss, "a loss with parameters of its own", "make them part of the model");
  }

  at::Tensor forward(const at::Tensor& samples) override {
    const c10::IValue output = output_of(samples);
    const bool scores = output.isTensor() && output.toTensor().dim() == 2 && output.toTensor().size(1) > 1 &&
                        output.toTensor().size(0) == samples.size(0) && output.toTensor().is_floating_point();
    if (!scores)
      throw cannot_train(own_.file,
                         fmt::format("its output for {} samples is {}, and cross entropy takes a matrix of scores, "
                                     "samples x classes",
                                     samples.size(0), in_words(output)),
                         "give a loss of your own: --loss loss.pt, a TorchScript module of (output, input)");
    return output.toTensor();
  }

  at::Tensor loss(const at::Tensor& samples, const at::Tensor& labels) override {
    at::Tensor loss = loss_ ? own_loss(samples) : cross_entropy(forward(samples), labels);
    if (!loss.requires_grad())
      throw cannot_train(own_.file, "its loss does not depend on a parameter",
                         "look for torch.no_grad() and detach() in it");
    return loss;
  }

  std::vector<std::pair<std::string, at::Tensor>> trained() override { return trained_; }

 private:
  static at::Tensor cross_entropy(const at::Tensor& scores, const at::Tensor& labels) {
    return at::cross_entropy_loss(scores, labels.remainder(scores.size(1)));
  }

  /// A parameter that stands in several places is trained once.
  void find_parameters() {
    int frozen = 0;
    for (const auto& [name, value] : module_.named_parameters()) {
      const auto is_known = [&](const auto& known) { return known.second.is_same(value); };
      if (!value.requires_grad() || value.numel() == 0) {
        ++frozen;
      } else if (value.scalar_type() != at::kFloat) {
        throw cannot_train(own_.file,
                           fmt::format("its parameter {} is of {}", name, c10::toString(value.scalar_type())),
                           "save it in single precision, model.float(); --precision bf16 or fp16 trains by autocast");
      } else if (std::ranges::none_of(trained_, is_known)) {
        trained_.emplace_back(name, value);
      }
    }
    if (!trained_.empty()) return;
    if (frozen > 0)
      throw cannot_train(own_.file, fmt::format("none of its {} parameters requires a gradient", frozen),
                         "call model.requires_grad_() before it is saved");
    throw cannot_train(own_.file, "it has no parameters",
                       "torch.jit.freeze makes constants of them: save the module without it");
  }

  c10::IValue output_of(const at::Tensor& samples) {
    try {
      return call(module_, {samples});
    } catch (const std::exception& error) {
      throw refused(error, fmt::format("{} does not take {}{}", model_file_name(own_.file),
                                       fmt::join(samples.sizes(), "x"), own_.input.vocabulary > 0 ? " tokens" : ""));
    }
  }

  at::Tensor own_loss(const at::Tensor& samples) {
    const c10::IValue output = output_of(samples);
    try {
      const c10::IValue loss = call(*loss_, {output, samples});
      if (loss.isTensor() && loss.toTensor().numel() == 1 && loss.toTensor().is_floating_point())
        return loss.toTensor().reshape({});
      throw cannot_train(own_.file, fmt::format("the loss of {} is {}", model_file_name(own_.loss), in_words(loss)),
                         "a loss is one number: its mean over all samples");
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw refused(error, fmt::format("{} does not take (output, input), which are {} and {}",
                                       model_file_name(own_.loss), in_words(output), in_words(samples)));
    }
  }

  static Error refused(const std::exception& error, const std::string& what) {
    const std::string reason = reason_of(error);
    if (reason.find("memory") != reason.npos)
      return {ExitCode::environment, fmt::format("{}: {}", what, reason), "give a smaller --batch"};
    return {ExitCode::usage, fmt::format("{}: {}", what, reason),
            "--input is the shape of one sample, without the batch: 3x224x224, or 128:vocab=30522 for tokens"};
  }

  OwnModel own_;
  torch::jit::Module module_;
  std::optional<torch::jit::Module> loss_;
  std::vector<std::pair<std::string, at::Tensor>> trained_;
};

}  // namespace

std::shared_ptr<Model> load_model(const OwnModel& model, at::Device place) {
  return std::make_shared<ScriptModel>(model, place);
}

}  // namespace hbench
