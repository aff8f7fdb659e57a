#include "workloads/engine/tensor_numbers.hpp"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/zeros_like.h>

namespace hbench {
namespace {

const TensorNumbers& of_tensors(const Numbers& numbers) { return static_cast<const TensorNumbers&>(numbers); }

/// Those at these places.
TensorNumbers chosen(const std::vector<at::Tensor>& tensors, const std::vector<int>& places) {
  std::vector<at::Tensor> some;
  for (const int place : places) some.push_back(tensors[static_cast<std::size_t>(place)]);
  return TensorNumbers(std::move(some));
}

}  // namespace

TensorNumbers TensorNumbers::zeros() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors_) all.push_back(at::zeros_like(tensor));
  return TensorNumbers(std::move(all));
}

void TensorNumbers::walk(StateWalk& state, std::string_view name) {
  for (at::Tensor& tensor : tensors_) {
    at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
    if (state.brings() && here.is_alias_of(tensor)) here = here.clone();
    state.bytes(name, {static_cast<std::byte*>(here.data_ptr()), here.nbytes()});
    if (state.brings()) tensor.copy_(here);
  }
}

std::vector<TensorNumbers> zeros_like(const TensorNumbers& numbers, int times) {
  std::vector<TensorNumbers> all;
  for (int i = 0; i < times; ++i) all.push_back(numbers.zeros());
  return all;
}

std::vector<Numbers*> pointers_to(std::vector<TensorNumbers>& numbers) {
  std::vector<Numbers*> pointers;
  for (TensorNumbers& each : numbers) pointers.push_back(&each);
  return pointers;
}

void TensorNumbers::assign(const Numbers& a) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(of_tensors(a).tensors_[i]);
}

void TensorNumbers::multiply(double factor) { at::_foreach_mul_(tensors_, factor); }

void TensorNumbers::add(const Numbers& a, double factor) {
  at::_foreach_add_(tensors_, of_tensors(a).tensors_, factor);
}

void TensorNumbers::add_product(const Numbers& a, const Numbers& b, double factor) {
  at::_foreach_addcmul_(tensors_, of_tensors(a).tensors_, of_tensors(b).tensors_, factor);
}

void TensorNumbers::add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) {
  std::vector<at::Tensor> divisors = at::_foreach_sqrt(of_tensors(b).tensors_);
  at::_foreach_div_(divisors, root);
  at::_foreach_add_(divisors, epsilon);
  at::_foreach_addcdiv_(tensors_, of_tensors(a).tensors_, divisors, factor);
}

struct OuterUpdates::Fragment {
  Fragment(const OuterUpdate& update, TensorNumbers of, TensorNumbers by, TensorNumbers from)
      : parameters(std::move(of)),
        deltas(std::move(by)),
        original(std::move(from)),
        kept(zeros_like(parameters, update.optimizer.state())),
        step(update, original, pointers_to(kept)) {}

  TensorNumbers parameters, deltas, original;
  std::vector<TensorNumbers> kept;
  OuterStep step;
};

OuterUpdates::OuterUpdates(const OuterUpdate& update, const std::vector<at::Tensor>& parameters,
                           const std::vector<at::Tensor>& deltas, const std::vector<std::vector<int>>& fragments) {
  for (const at::Tensor& parameter : parameters) originals_.push_back(parameter.detach().clone());
  for (const std::vector<int>& places : fragments)
    fragments_.push_back(std::make_unique<Fragment>(update, chosen(parameters, places), chosen(deltas, places),
                                                    chosen(originals_, places)));
}

OuterUpdates::~OuterUpdates() = default;

void OuterUpdates::walk(StateWalk& state) {
  TensorNumbers(originals_).walk(state, "outer parameters");
  for (const auto& fragment : fragments_) {
    fragment->step.walk(state);
    for (TensorNumbers& kept : fragment->kept) kept.walk(state, "outer optimizer");
  }
}

void OuterUpdates::take_deltas(int fragment) {
  Fragment& mine = *fragments_[static_cast<std::size_t>(fragment)];
  mine.step.take_deltas(mine.parameters, mine.deltas);
}

void OuterUpdates::apply(int fragment, int ranks) {
  Fragment& mine = *fragments_[static_cast<std::size_t>(fragment)];
  mine.step.apply(mine.deltas, ranks, mine.parameters);
}

}  // namespace hbench
