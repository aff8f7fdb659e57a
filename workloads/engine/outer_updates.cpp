#include "workloads/engine/outer_updates.hpp"

namespace hbench {
namespace {

/// Those at these places.
TensorNumbers chosen(const std::vector<at::Tensor>& tensors, const std::vector<int>& places) {
  std::vector<at::Tensor> some;
  for (const int place : places) some.push_back(tensors[static_cast<std::size_t>(place)]);
  return TensorNumbers(std::move(some));
}

}  // namespace

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

void OuterUpdates::take_deltas(int fragment) {
  Fragment& mine = *fragments_[static_cast<std::size_t>(fragment)];
  mine.step.take_deltas(mine.parameters, mine.deltas);
}

void OuterUpdates::apply(int fragment, int ranks) {
  Fragment& mine = *fragments_[static_cast<std::size_t>(fragment)];
  mine.step.apply(mine.deltas, ranks, mine.parameters);
}

}  // namespace hbench
