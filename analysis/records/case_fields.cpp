#include "analysis/records/case_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace hbench {
namespace {

template <class Member>
FieldValue value_of(const Member& member) {
  if constexpr (std::is_same_v<Member, Evidence>)
    return std::string(to_string(member));
  else if constexpr (std::is_same_v<Member, int>)
    return std::int64_t{member};
  else
    return member;
}

template <class Member>
void assign(Member& member, const FieldValue& value) {
  if constexpr (std::is_same_v<Member, Evidence>)
    member = parse_evidence(std::get<std::string>(value));
  else if constexpr (std::is_same_v<Member, int>)
    member = static_cast<int>(std::get<std::int64_t>(value));
  else
    member = std::get<Member>(value);
}

/// The member at the end of `path`.
template <auto... path>
constexpr CaseField field(std::string_view name, Part part, int since, std::string_view text) {
  return {name,
          part,
          since,
          text,
          [](const Case& asked) { return value_of((asked.*....*path)); },
          [](Case& asked, const FieldValue& value) { assign((asked.*....*path), value); }};
}

/// Collectives and training steps each keep their own.
FieldValue get_executor(const Case& asked) {
  return asked.is_collective() ? asked.collective.executor : asked.training.executor;
}
void set_executor(Case& asked, const FieldValue& value) {
  assign(asked.is_collective() ? asked.collective.executor : asked.training.executor, value);
}

/// Names are for ever: keys of stored answers hold them, and scripts read them.
constexpr std::array kFields{
    field<&Case::evidence>("evidence", Part::place, 1, "`measured`, `emulated`, `simulated` or `published`"),
    field<&Case::workload>("workload", Part::work, 1,
                           "a model or timeline; of a collective empty, or the timeline whose tensors travel"),
    field<&Case::gpus>("gpus", Part::way, 1, "GPUs, each with a worker where no `processes_per_gpu` says more"),
    field<&Case::nodes>("nodes", Part::way, 5, "machines on which the workers are; 0: not known"),
    field<&Case::processes_per_gpu>("processes_per_gpu", Part::way, 9,
                                    "workers that share each GPU, where more than one does; else 0"),
    field<&Case::strategy, &Strategy::algorithm>("algorithm", Part::way, 1,
                                                 "`none`: one process without communication, the baseline"),
    field<&Case::strategy, &Strategy::placement>("placement", Part::way, 1, "of tensors on parameter servers"),
    field<&Case::strategy, &Strategy::servers>("servers", Part::way, 1, "parameter servers"),
    field<&Case::strategy, &Strategy::server_mode>("server_mode", Part::way, 1, "`dedicated` or `colocated`"),
    field<&Case::strategy, &Strategy::compressor>("compressor", Part::way, 1, "of gradients; `none`: as they are"),
    field<&Case::strategy, &Strategy::fusion>("fusion", Part::way, 1, "policy with its parameters"),
    field<&Case::strategy, &Strategy::overlap>("overlap", Part::way, 1,
                                               "whether gradients leave during the backward pass"),
    field<&Case::strategy, &Strategy::preset>(
        "preset", Part::way, 6,
        "the framework as the simulator sees it, of a simulated step or of its own; empty: none"),
    field<&Case::strategy, &Strategy::method>("method", Part::way, 11,
                                              "of training, as `hbench list methods` has it; empty: synchronous"),
    field<&Case::strategy, &Strategy::framework>(
        "framework", Part::way, 14,
        "the program that trained, with its setting, as `hbench list frameworks` has it; empty: hbench"),
    field<&Case::strategy, &Strategy::framework_version>("framework_version", Part::way, 14, "as it says itself"),
    field<&Case::collective, &CollectiveTask::name>(
        "collective", Part::work, 2,
        "`all-reduce`, `reduce-scatter`, `all-gather`, `broadcast`; empty: a training step"),
    field<&Case::collective, &CollectiveTask::bytes>("bytes", Part::work, 2, "of each rank's buffer"),
    field<&Case::collective, &CollectiveTask::data_type>("type", Part::work, 2, "of a collective's elements"),
    field<&Case::collective, &CollectiveTask::operation>("redop", Part::work, 2, "of a collective: `sum` ..."),
    CaseField{"executor", Part::way, 2, "what carries the bytes; of a training step empty: `mpi`", get_executor,
              set_executor},
    field<&Case::collective, &CollectiveTask::ranks_per_node>("ranks_per_node", Part::way, 2,
                                                              "of a hierarchical collective"),
    field<&Case::collective, &CollectiveTask::segments>("segments", Part::way, 2,
                                                        "of a pipelined collective; 0: the algorithm's choice"),
    field<&Case::training, &TrainingTask::device>("device", Part::work, 3, "`gpu`; empty: CPU cores"),
    field<&Case::training, &TrainingTask::precision>("precision", Part::work, 3,
                                                     "`tf32`, `bf16`, `fp16`, `bf16-true`; empty: `float32`"),
    field<&Case::training, &TrainingTask::recompute>(
        "recompute", Part::work, 11,
        "`selective`, `full`: activations that the backward pass computes again; empty: none"),
    field<&Case::training, &TrainingTask::optimizer>(
        "optimizer", Part::work, 12,
        "as `hbench list optimizers` has it; empty: of measured steps SGD, else as the workload was recorded"),
    field<&Case::training, &TrainingTask::data>("data", Part::work, 16,
                                                "what is learned, as `hbench list data` has it, or a folder; empty: "
                                                "samples are drawn"),
    field<&Case::training, &TrainingTask::epochs>("epochs", Part::work, 16, "over the data; 0: there is none"),
    field<&Case::training, &TrainingTask::learning_rate>("learning_rate", Part::work, 16,
                                                         "of one rank alone; 0: the optimizer's usual one"),
    field<&Case::benchmark>("benchmark", Part::work, 8,
                            "of another program, as it names itself, with the program before it; else empty"),
    field<&Case::batch_per_gpu>("batch_per_gpu", Part::work, 1, "samples per worker and step"),
    field<&Case::accumulate>("accumulate", Part::work, 10,
                             "micro-batches of a step, whose gradients travel together; 0: one"),
    field<&Case::global_batch>("global_batch", Part::work, 10,
                               "samples of a step at every GPU count (strong scaling); 0: weak scaling"),
    field<&Case::image_size>("image_size", Part::work, 1, "pixels; 0 where the workload fixes it"),
    field<&Case::model_digest>(
        "model_digest", Part::work, 11,
        "of a file of one's own: of a TorchScript model (and its loss) where it is measured, of a "
        "timeline where it is simulated or emulated; else empty"),
    field<&Case::single_gpu_rate>("single_gpu_rate", Part::work, 1,
                                  "samples/s of one GPU as given by the user; 0: the profile's or the timeline's"),
    field<&Case::profile>("profile", Part::place, 1, "cluster profile; `local`: the machine of the run"),
    field<&Case::machine>(
        "machine", Part::place, 4,
        "digest of the machine where it was timed; the run's environment has it in words as `machine DIGEST`"),
    field<&Case::source>("source", Part::origin, 1,
                         "a citation; the digests of a profile and a timeline; what was timed"),
    field<&Case::implementation>("implementation", Part::producer, 1,
                                 "name and revision of what produced the figures, such as `engine/1`"),
};

constexpr std::array<std::string_view, 5> kParts{"work", "way", "place", "origin", "producer"};

/// So that neither a separator nor a line break within a value can make two cases look like one.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n')
      text += "\\n";
    else if (c == ';' || c == '\\')
      text += {'\\', c};
    else
      text += c;
  }
  return text;
}

std::string text_of(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return escaped(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::get<bool>(value) ? "yes" : "no";
}

/// What is not set is left out, so that a new field leaves the keys of older answers as they are.
template <class Chosen>
std::string key_of(const Case& asked, Chosen chosen) {
  std::string key;
  for (const CaseField& field : kFields) {
    if (!chosen(field.part)) continue;
    const FieldValue value = field.get(asked);
    if (is_unset(value)) continue;
    key += fmt::format("{}{}={}", key.empty() ? "" : ";", field.name, text_of(value));
  }
  return key;
}

}  // namespace

std::string_view to_string(Part part) { return kParts.at(static_cast<std::size_t>(part)); }

bool is_unset(const FieldValue& value) {
  return std::visit([](const auto& held) { return held == std::decay_t<decltype(held)>(); }, value);
}

std::string in_words(const FieldValue& value) {
  if (is_unset(value)) return "none";
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

std::span<const CaseField> case_fields() { return kFields; }

std::string Case::question() const {
  return key_of(*this, [](Part part) { return part == Part::work || part == Part::way; });
}

std::string Case::place() const {
  return key_of(*this, [&](Part part) { return part == Part::place || (part == Part::origin && !is_timed()); });
}

std::string Case::key() const { return question() + ";" + place(); }

Case Case::baseline() const {
  Case base = *this;
  const Case unset;
  for (const CaseField& field : kFields)
    if (field.part == Part::way) field.set(base, field.get(unset));
  base.gpus = 1;
  base.strategy.algorithm = kNoCommunication;
  base.strategy.overlap = false;
  return base;
}

}  // namespace hbench
