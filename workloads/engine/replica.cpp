#include "workloads/engine/replica.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/engine/batches.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/libtorch_settings.hpp"
#include "workloads/engine/tensor_numbers.hpp"
#include "workloads/models/model.hpp"

namespace hbench {
namespace {

/// Batch normalisation needs more than one value per channel.
constexpr int kSmallestBatch = 2;

at::Device place_of(const ReplicaOptions& options) {
  return options.gpu ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(*options.gpu)) : at::Device(at::kCPU);
}

template <class Build>
std::shared_ptr<Model> built(Build build, const ReplicaOptions& options) {
  // The generator is the process's: ranks that are threads take turns.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  torch::manual_seed(options.seed);
  std::shared_ptr<Model> model = build();
  // What is drawn from now on (dropout) differs between ranks.
  torch::manual_seed(options.seed + 1 + static_cast<unsigned>(options.rank));
  return model;
}

SampleShape images(const ModelEntry& entry, int size) { return {{entry.channels, size, size}, 0}; }

/// One look of the host for all of them, as PyTorch's GradScaler has; multiplied by 1, they stay what they are.
bool gradients_are_finite_on_gpu(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  const auto scalar = gradients.front().options().dtype(at::kFloat);
  at::Tensor found = at::zeros({1}, scalar);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, at::ones({1}, scalar));
  return found.item<float>() == 0;
}

/// Runs before a gradient is accumulated, with the gradient that autograd has computed. True when it has put it where
/// it belongs, and nothing is left to accumulate.
struct PlaceHook final : torch::autograd::FunctionPreHook {
  explicit PlaceHook(std::function<bool(const at::Tensor&)> with) : call(std::move(with)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& gradients) override {
    return call(gradients.front()) ? torch::autograd::variable_list(1) : gradients;
  }
  std::function<bool(const at::Tensor&)> call;
};

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

/// The numbers of all tensors, one after the other.
std::vector<float> copied(const std::vector<at::Tensor>& tensors) {
  std::vector<float> all;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
    const float* const data = here.data_ptr<float>();
    all.insert(all.end(), data, data + here.numel());
  }
  return all;
}

/// The parameters whose tensors these are. \param tensor_of by parameter
std::vector<std::vector<int>> parameters_of(const std::vector<std::vector<int>>& tensors,
                                            const std::vector<int>& tensor_of) {
  std::vector<std::vector<int>> parameters;
  for (const std::vector<int>& each : tensors) {
    std::vector<int>& mine = parameters.emplace_back();
    for (const int tensor : each)
      mine.push_back(static_cast<int>(std::ranges::find(tensor_of, tensor) - tensor_of.begin()));
  }
  return parameters;
}

}  // namespace

/// What a replica is trained on.
struct Replica::Samples {
  SampleShape input;
  std::optional<SampleShape> smallest;  ///< that the model takes, where it is known
  int classes = 0;                      ///< of labels
};

struct Replica::State {
  State(const Samples& of, const ReplicaOptions& with, const std::function<std::shared_ptr<Model>(at::Device)>& build)
      : samples(of),
        options(with),
        place(place_of(with)),
        device(with.gpu ? make_default_cuda_device(*with.gpu) : shared_host_device()) {
    set_up_process(options.threads);
    if (options.gpu) set_up_gpus(options.precision);
    model = built([&] { return build(place); }, options);
    model->to(place);
    model->train();
    if (options.freeze_batch_norm) freeze();
    for (const auto& [name, parameter] : model->trained()) {
      names.push_back(name);
      parameters.push_back(parameter);
      if (options.channels_last && parameter.dim() == 4)
        parameters.back().set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
      tensor_of.push_back(static_cast<int>(tensor_of.size()));
    }
    const WorkersShare share{options.seed, options.rank, options.workers, options.batch};
    const PlaceBatch place_batch = [this](const Batch& batch) { return placed(batch); };
    source = options.data != nullptr ? dealt_batches(*options.data, samples.input, share, place_batch)
                                     : drawn_batches(samples.input, samples.classes, share, place_batch);
  }

  Batch placed(const Batch& batch) const {
    const auto format = options.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    return {batch.samples.to(place).contiguous(format), batch.labels.to(place)};
  }

  /// Parameters, and what normalisation has counted.
  std::vector<at::Tensor> state() const {
    std::vector<at::Tensor> all = parameters;
    for (const at::Tensor& buffer : model->buffers()) all.push_back(buffer);
    return all;
  }

  Judged judge() {
    const at::NoGradGuard guard;
    model->eval();
    Judged sum;
    each_test_batch(*options.data, samples.input, [&](const Batch& made) {
      const Batch batch = placed(made);
      const at::Tensor scores = model->forward(batch.samples);
      sum.loss += at::cross_entropy_loss(scores, batch.labels).item<double>() * static_cast<double>(scores.size(0));
      sum.accuracy += static_cast<double>((scores.argmax(1) == batch.labels).sum().item<std::int64_t>());
    });
    const auto all = static_cast<double>(options.data->test.count());
    return {sum.accuracy / all, sum.loss / all};
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
      accumulator->add_pre_hook(
          std::make_unique<PlaceHook>([this, i](const at::Tensor& gradient) { return place_gradient(i, gradient); }));
      accumulator->add_post_hook(std::make_unique<ReadyHook>([this, i] {
        if (ready != nullptr && *ready) (*ready)(tensor_of[i]);
      }));
      accumulators.push_back(std::move(accumulator));
    }
  }

  /// Into the flat buffer, once there is one: a copy while the gradient is still in the cache, and its own memory is
  /// free for the next. Autograd gives each parameter one gradient per backward pass, so that nothing has to be zeroed
  /// before, or added up but the gradients of micro-batches.
  bool place_gradient(std::size_t parameter, const at::Tensor& gradient) {
    if (!flat.defined() || !gradient.defined()) return false;
    const at::NoGradGuard guard;
    at::Tensor& sum = parameters[parameter].mutable_grad();
    adds ? sum.add_(gradient) : sum.copy_(gradient);
    if (gains > 0) gain_momentum(parameter, sum);
    return true;
  }

  void gain_momentum(std::size_t parameter, at::Tensor& gradient) {
    TensorNumbers gained({gradient});
    const OptimizerChoice& with = options.optimizer;
    with.optimizer->momentum->gain(with.values, {.divisor = gains}, kept.front().of(parameter), gained);
  }

  void drop_gradients() {
    if (adds || flat.defined()) return;  // else each is overwritten
    for (at::Tensor& parameter : parameters) parameter.mutable_grad() = at::Tensor();
  }

  /// The least work that shows the order of gradients.
  Batch smallest_batch() const {
    if (!samples.smallest) return source->batch(0);
    return placed(drawn_batch(*samples.smallest, samples.classes, options.seed, 0, kSmallestBatch));
  }

  /// Tries a step, which changes no parameter. \throws Error (usage).
  void require_gradients(const OwnModel& of) {
    forward(source->batch(0));
    try {
      backward({}, 1);
    } catch (const c10::Error& error) {
      if (is_of_memory(error)) throw;
      throw cannot_train(of.file, first_line_of(error), "its backward pass must work in PyTorch as well");
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor& gradient = parameters[i].grad();
      if (!gradient.defined())
        throw cannot_train(of.file, fmt::format("its parameter {} gets no gradient", names[i]),
                           "use it in forward(), or call requires_grad_(False) on it before the model is saved");
      if (!at::isfinite(gradient).all().item<bool>())
        throw cannot_train(of.file, fmt::format("the gradient of {} is not finite", names[i]),
                           "look for NaN in its weights, and for layers that overflow on values of variance 1");
    }
    drop_gradients();
  }

  void forward(const Batch& batch) {
    drop_gradients();
    std::optional<Autocast> autocast;
    if (options.precision == Precision::bf16) autocast.emplace(place.type(), at::kBFloat16);
    if (options.precision == Precision::fp16) autocast.emplace(place.type(), at::kHalf);
    loss = model->loss(batch.samples, batch.labels);
  }

  void backward(const std::function<void(int)>& on_ready, double scale) {
    if (on_ready) add_hooks();
    ready = &on_ready;
    (scale == 1 ? loss : loss * scale).backward();
    ready = nullptr;
    loss = loss.detach();
  }

  /// A step of the optimizer, whose state is made with the first.
  void update(double rate, double divisor, TensorNumbers of, const TensorNumbers& by) {
    const at::NoGradGuard guard;
    if (kept.empty()) kept = zeros_like(of, options.optimizer.state());
    options.optimizer.apply({.rate = rate, .divisor = divisor, .number = ++updates}, of, by, pointers_to(kept));
  }

  /// A step by momenta, which has none of its own to make.
  void update_by_momenta(double rate, double divisor) {
    const at::NoGradGuard guard;
    if (frozen == 0) frozen = updates;
    const OptimizerStep step{.rate = rate, .divisor = divisor, .number = ++updates, .frozen = frozen};
    TensorNumbers all(parameters);
    options.optimizer.optimizer->momentum->apply(options.optimizer.values, step, all, gradients(), pointers_to(kept));
  }

  /// Where gradients lie.
  TensorNumbers gradients() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : parameters) all.push_back(parameter.grad());
    return TensorNumbers(std::move(all));
  }

  /// Where the optimizer's parameters lie: in these parts of the memory, or all of them.
  TensorNumbers updated() const {
    std::vector<at::Tensor> some;
    for (const ElementRange& part : parts) some.push_back(flat_parameters.slice(0, part.begin, part.end));
    return TensorNumbers(parts.empty() ? parameters : std::move(some));
  }

  void walk(StateWalk& to) {
    TensorNumbers(state()).walk(to, "parameters");
    to.number("updates", updates);
    to.number("updates before momenta", frozen);
    to.numbers("own parts", parts);
    bool has_state = !kept.empty();
    to.number("optimizer", has_state);
    if (has_state && kept.empty()) kept = zeros_like(updated(), options.optimizer.state());
    for (TensorNumbers& each : kept) each.walk(to, "optimizer");
    if (outer != nullptr) outer->walk(to);
    at::Generator generator = at::globalContext().defaultGenerator(place);
    const std::scoped_lock lock(generator.mutex());
    TensorNumbers drawn({generator.get_state()});
    drawn.walk(to, "random numbers");
    if (to.brings()) generator.set_state(drawn.tensor(0));
  }

  /// These parts, which arrive in any order, in the order of the state that is kept for them.
  const std::vector<ElementRange>& kept_order(std::span<const ElementRange> given) {
    std::vector<ElementRange> sorted(given.begin(), given.end());
    std::ranges::sort(sorted, {}, &ElementRange::begin);
    if (!kept.empty() && sorted != parts)
      throw std::logic_error("a rank updates other parameters than those whose optimizer state it keeps");
    return parts = std::move(sorted);
  }

  Samples samples;
  ReplicaOptions options;
  at::Device place;
  std::shared_ptr<Device> device;
  std::shared_ptr<Model> model;
  std::vector<std::string> names;      ///< forward order
  std::vector<at::Tensor> parameters;  ///< forward order
  std::vector<int> tensor_of;          ///< per parameter
  std::unique_ptr<BatchSource> source;
  std::optional<std::pair<int, Batch>> fetched;  ///< the last one, with its number
  std::vector<std::vector<at::Tensor>> kept_states;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
  const std::function<void(int)>* ready = nullptr;
  at::Tensor flat;             ///< gradients
  at::Tensor flat_parameters;  ///< where they lie in one memory
  bool adds = false;           ///< gradients to those that are there
  double gains = 0;            ///< as `leave_momenta` was called
  at::Tensor loss;
  std::vector<TensorNumbers> kept;      ///< the optimizer's state
  std::vector<ElementRange> parts;      ///< that it is of, where a rank updates some alone
  std::int64_t updates = 0;             ///< steps of the optimizer
  std::int64_t frozen = 0;              ///< those before the first by momenta
  std::vector<at::Tensor> deltas;       ///< per parameter, once it is laid out: where they lie
  std::unique_ptr<OuterUpdates> outer;  ///< null: there are none
};

Replica::Replica(const ModelEntry& entry, const ReplicaOptions& options)
    : state_(translated([&] {
        const bool series = entry.series > 0;
        const SampleShape drawn = series ? SampleShape{{1, 1, entry.series}} : images(entry, options.image_size);
        const Samples samples{.input = options.data != nullptr ? input_for(entry, *options.data) : drawn,
                              .smallest = series ? drawn : images(entry, entry.smallest_image),
                              .classes = entry.classes};
        return std::make_unique<State>(samples, options, [&](at::Device) { return build_model(entry); });
      })) {}

// The order of data in memory is PyTorch's: a model may rely on it.
Replica::Replica(const OwnModel& model, const ReplicaOptions& options) {
  if (options.data != nullptr && options.data->shape.sizes != model.input.sizes)
    throw Error(ExitCode::usage,
                fmt::format("{} takes {}, and a sample of the data is {}", model.file, model.input.text(),
                            options.data->shape.text()),
                "--input has the shape of a sample");
  ReplicaOptions as_saved = options;
  as_saved.channels_last = false;
  const Samples samples{.input = model.input, .smallest = std::nullopt, .classes = std::numeric_limits<int>::max()};
  translated([&] {
    const auto build = [&](at::Device place) { return load_model(model, place); };
    state_ = std::make_unique<State>(samples, as_saved, build);
    state_->require_gradients(model);
  });
}

Replica::~Replica() = default;

GradientLayout Replica::record_layout() {
  GradientLayout layout;
  translated([&] {
    state_->forward(state_->smallest_batch());
    const auto note = [&](int parameter) {
      layout.parameters.push_back(parameter);
      layout.elements.push_back(state_->parameters[static_cast<std::size_t>(parameter)].numel());
    };
    state_->backward(note, 1);
    state_->drop_gradients();
  });
  return layout;
}

void Replica::lay_out(const GradientLayout& layout, const ModelMemory& memory) {
  const auto whole = [&](std::span<float> floats) {
    return at::from_blob(floats.data(), {layout.total()}, at::TensorOptions().dtype(at::kFloat).device(state_->place));
  };
  translated([&] {
    state_->flat = whole(memory.gradients);
    if (!memory.parameters.empty()) state_->flat_parameters = whole(memory.parameters);
  });
  state_->add_hooks();
  const at::Tensor flat_deltas = memory.deltas.empty() ? state_->flat : whole(memory.deltas);
  const std::vector<std::int64_t> offsets = layout.offsets();
  state_->deltas.resize(state_->parameters.size());
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const auto index = static_cast<std::size_t>(layout.parameters[i]);
    at::Tensor& parameter = state_->parameters[index];
    state_->tensor_of[index] = static_cast<int>(i);
    // In the parameter's own order of elements.
    const auto view = [&](const at::Tensor& of) {
      return of.as_strided(parameter.sizes(), parameter.strides(), offsets[i]);
    };
    parameter.mutable_grad() = view(state_->flat);
    state_->deltas[index] = view(flat_deltas);
    if (!state_->flat_parameters.defined()) continue;
    const at::NoGradGuard guard;
    parameter.set_data(view(state_->flat_parameters).copy_(parameter));
  }
}

std::vector<std::string> Replica::tensor_names() const { return state_->names; }

std::vector<std::int64_t> Replica::tensor_elements() const {
  std::vector<std::int64_t> elements;
  for (const at::Tensor& parameter : state_->parameters) elements.push_back(parameter.numel());
  return elements;
}

Device& Replica::device() { return *state_->device; }

void Replica::warm_up() {
  forward(0);
  backward({});
  synchronize(*state_->device);
}

void Replica::add_gradients(bool adds) { state_->adds = adds; }

void Replica::leave_momenta(double divisor) { state_->gains = divisor; }

bool Replica::fetch(int batch) {
  if (state_->options.data == nullptr) return false;
  translated([&] { state_->fetched = {batch, state_->source->batch(batch)}; });
  return true;
}

void Replica::forward(int batch) {
  const bool fetched = state_->fetched && state_->fetched->first == batch;
  translated([&] { state_->forward(fetched ? state_->fetched->second : state_->source->batch(batch)); });
}

void Replica::backward(const std::function<void(int)>& ready, double scale) {
  translated([&] { state_->backward(ready, scale); });
}

bool Replica::gradients_are_finite() const {
  return translated([&] {
    if (state_->flat.defined()) return at::isfinite(state_->flat).all().item<bool>();
    if (state_->place.is_cuda()) return gradients_are_finite_on_gpu(state_->parameters);
    return std::ranges::all_of(state_->parameters,
                               [](const at::Tensor& each) { return at::isfinite(each.grad()).all().item<bool>(); });
  });
}

void Replica::apply(double rate, double divisor) {
  translated([&] { state_->update(rate, divisor, TensorNumbers(state_->parameters), state_->gradients()); });
}

void Replica::apply_momenta(double rate, double divisor) {
  translated([&] { state_->update_by_momenta(rate, divisor); });
}

void Replica::begin_outer(const OuterUpdate& update, const std::vector<std::vector<int>>& fragments) {
  const at::NoGradGuard guard;
  translated([&] {
    state_->outer = std::make_unique<OuterUpdates>(update, state_->parameters, state_->deltas,
                                                   parameters_of(fragments, state_->tensor_of));
  });
}

void Replica::take_deltas(int fragment) {
  const at::NoGradGuard guard;
  translated([&] { state_->outer->take_deltas(fragment); });
}

void Replica::apply_deltas(int fragment, int ranks) {
  const at::NoGradGuard guard;
  translated([&] { state_->outer->apply(fragment, ranks); });
}

void Replica::apply_parts(double rate, double divisor, std::span<const ElementRange> parts) {
  if (parts.empty()) return;
  translated([&] {
    std::vector<at::Tensor> parameters, gradients;
    for (const ElementRange& part : state_->kept_order(parts)) {
      parameters.push_back(state_->flat_parameters.slice(0, part.begin, part.end));
      gradients.push_back(state_->flat.slice(0, part.begin, part.end));
    }
    state_->update(rate, divisor, TensorNumbers(std::move(parameters)), TensorNumbers(std::move(gradients)));
  });
}

double Replica::loss() const {
  return translated([&] {
    const auto loss = state_->loss.item<double>();
    synchronize(*state_->device);
    return loss;
  });
}

void Replica::keep_state() {
  translated([&] {
    std::vector<at::Tensor>& copy = state_->kept_states.emplace_back();
    for (const at::Tensor& each : state_->state()) copy.push_back(each.detach().clone());
  });
}

Judged Replica::judge() {
  return translated([&] { return state_->judge(); });
}

Judged Replica::judge_kept(int number) {
  return translated([&] {
    const at::NoGradGuard guard;
    const std::vector<at::Tensor> into = state_->state();
    const std::vector<at::Tensor>& kept = state_->kept_states.at(static_cast<std::size_t>(number));
    for (std::size_t i = 0; i < into.size(); ++i) into[i].copy_(kept[i]);
    return state_->judge();
  });
}

void Replica::walk(StateWalk& state) {
  const at::NoGradGuard guard;
  translated([&] { state_->walk(state); });
}

std::uint64_t Replica::digest() const {
  Digest digest;
  digest.add(agreed());
  return digest.value();
}

std::vector<float> Replica::agreed() const {
  return copied(state_->outer == nullptr ? state_->parameters : state_->outer->originals());
}

std::vector<float> Replica::parameters() const { return copied(state_->parameters); }

}  // namespace hbench
