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

}  // namespace

TensorNumbers TensorNumbers::zeros() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors_) all.push_back(at::zeros_like(tensor));
  return TensorNumbers(std::move(all));
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

}  // namespace hbench
