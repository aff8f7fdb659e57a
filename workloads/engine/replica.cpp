#include "workloads/engine/replica.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/utils.h>

#include <algorithm>
#include <mutex>

#include "collectives/base/error.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/samples.hpp"
#include "workloads/models/model.hpp"

namespace hbench {
namespace {

/// Batches that take turns.
constexpr int kPool = 4;
/// Batch normalisation needs more than one value per channel.
constexpr int kSmallestBatch = 2;

struct Data {
  at::Tensor images;
  at::Tensor labels;
};

/// LibTorch's message without its stack of C++ frames.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw Error(ExitCode::environment, fmt::format("LibTorch: {}", error.what_without_backtrace()));
  }
}

void set_threads(int threads) {
  at::set_num_threads(threads);
  // LibTorch lets this be said once per process.
  static std::once_flag once;
  std::call_once(once, [] {
    if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  });
}

std::shared_ptr<Model> build(const ModelEntry& entry, const ReplicaOptions& options) {
  // The generator is the process's: ranks that are threads take turns.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  torch::manual_seed(options.seed);
  std::shared_ptr<Model> model = entry.build();
  // What is drawn from now on (dropout) differs between ranks.
  torch::manual_seed(options.seed + 1 + static_cast<unsigned>(options.rank));
  return model;
}

Data make_batch(const ModelEntry& entry, unsigned seed, std::uint64_t first, int batch, int image_size) {
  Data data{at::empty({batch, entry.channels, image_size, image_size}, at::kFloat), at::empty({batch}, at::kLong)};
  const auto pixels = static_cast<std::size_t>(data.images.numel() / batch);
  for (int i = 0; i < batch; ++i) {
    const auto index = static_cast<std::size_t>(i);
    fill_image(seed, first + index, {data.images.data_ptr<float>() + index * pixels, pixels});
    data.labels.data_ptr<std::int64_t>()[i] = label_of(seed, first + index, entry.classes);
  }
  return data;
}

/// Runs after a gradient has been accumulated.
struct ReadyHook final : torch::autograd::FunctionPostHook {
  explicit ReadyHook(std::function<void()> with) : call(std::move(with)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    call();
    return outputs;
  }
  std::function<void()> call;
};

}  // namespace

struct Replica::State {
  State(const ModelEntry& of, const ReplicaOptions& with) : entry(of), options(with) {
    set_threads(options.threads);
    model = build(entry, options);
    model->train();
    if (options.freeze_batch_norm) freeze();
    for (const auto& item : model->named_parameters()) {
      names.push_back(item.key());
      parameters.push_back(item.value());
      tensor_of.push_back(static_cast<int>(tensor_of.size()));
    }
    const auto batch = static_cast<std::uint64_t>(options.batch);
    const auto workers = static_cast<std::uint64_t>(options.workers);
    for (std::uint64_t i = 0; i < kPool; ++i) {
      const std::uint64_t first = (i * workers + static_cast<std::uint64_t>(options.rank)) * batch;
      pool.push_back(make_batch(entry, options.seed, first, options.batch, options.image_size));
    }
  }

  void freeze() {
    for (const auto& module : model->modules()) {
      if (module->as<torch::nn::BatchNorm2d>() != nullptr) module->eval();
    }
  }

  /// Hooks sit on the accumulators, which live as long as someone holds them.
  void add_hooks() {
    if (!accumulators.empty()) return;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      auto accumulator = torch::autograd::impl::grad_accumulator(parameters[i]);
      accumulator->add_post_hook(std::make_unique<ReadyHook>([this, i] {
        if (ready != nullptr && *ready) (*ready)(tensor_of[i]);
      }));
      accumulators.push_back(std::move(accumulator));
    }
  }

  void drop_gradients() {
    if (flat.defined()) {
      flat.zero_();
    } else {
      for (at::Tensor& parameter : parameters) parameter.mutable_grad() = at::Tensor();
    }
  }

  double forward(const Data& data) {
    drop_gradients();
    loss = model->loss(data.images, data.labels);
    return loss.item<double>();
  }

  void backward(const std::function<void(int)>& on_ready) {
    if (on_ready) add_hooks();
    ready = &on_ready;
    loss.backward();
    ready = nullptr;
    loss = at::Tensor();
  }

  const ModelEntry& entry;
  ReplicaOptions options;
  std::shared_ptr<Model> model;
  std::vector<std::string> names;      ///< forward order
  std::vector<at::Tensor> parameters;  ///< forward order
  std::vector<int> tensor_of;          ///< per parameter
  std::vector<Data> pool;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
  const std::function<void(int)>* ready = nullptr;
  at::Tensor flat;
  at::Tensor loss;
};

Replica::Replica(const ModelEntry& entry, const ReplicaOptions& options)
    : state_(translated([&] { return std::make_unique<State>(entry, options); })) {}

Replica::~Replica() = default;

GradientLayout Replica::record_layout() {
  const ModelEntry& entry = state_->entry;
  GradientLayout layout;
  translated([&] {
    state_->forward(make_batch(entry, state_->options.seed, 0, kSmallestBatch, entry.smallest_image));
    state_->backward([&](int parameter) {
      layout.parameters.push_back(parameter);
      layout.elements.push_back(state_->parameters[static_cast<std::size_t>(parameter)].numel());
    });
    state_->drop_gradients();
  });
  return layout;
}

void Replica::lay_out(const GradientLayout& layout) {
  state_->flat = translated([&] { return at::zeros({layout.total()}, at::kFloat); });
  const std::vector<std::int64_t> offsets = layout.offsets();
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const auto index = static_cast<std::size_t>(layout.parameters[i]);
    at::Tensor& parameter = state_->parameters[index];
    state_->tensor_of[index] = static_cast<int>(i);
    // A gradient that exists is added to in place: autograd writes where we want it.
    parameter.mutable_grad() = state_->flat.narrow(0, offsets[i], layout.elements[i]).view(parameter.sizes());
  }
}

std::vector<std::string> Replica::tensor_names() const { return state_->names; }

std::vector<std::int64_t> Replica::tensor_elements() const {
  std::vector<std::int64_t> elements;
  for (const at::Tensor& parameter : state_->parameters) elements.push_back(parameter.numel());
  return elements;
}

std::span<float> Replica::gradients() {
  if (!state_->flat.defined()) return {};
  return {state_->flat.data_ptr<float>(), static_cast<std::size_t>(state_->flat.numel())};
}

double Replica::forward(int step) {
  return translated([&] { return state_->forward(state_->pool[static_cast<std::size_t>(step % kPool)]); });
}

void Replica::backward(const std::function<void(int)>& ready) {
  translated([&] { state_->backward(ready); });
}

void Replica::apply(double rate) {
  const at::NoGradGuard guard;
  translated([&] {
    for (at::Tensor& parameter : state_->parameters) parameter.add_(parameter.grad(), -rate);
  });
}

std::uint64_t Replica::digest() const {
  Digest digest;
  for (const at::Tensor& parameter : state_->parameters) {
    digest.add({parameter.data_ptr<float>(), static_cast<std::size_t>(parameter.numel())});
  }
  return digest.value();
}

std::vector<float> Replica::parameters() const {
  std::vector<float> all;
  for (const at::Tensor& parameter : state_->parameters) {
    const float* const data = parameter.data_ptr<float>();
    all.insert(all.end(), data, data + parameter.numel());
  }
  return all;
}

}  // namespace hbench
