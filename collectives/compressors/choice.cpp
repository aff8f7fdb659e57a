#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {
namespace {

constexpr std::string_view kErrorFeedback = "ef:";

}  // namespace

std::string CompressorChoice::text() const {
  std::string text(error_feedback ? kErrorFeedback : "");
  text += compressor->name;
  if (!parameters.empty()) text += ":" + parameters;
  return text;
}

std::unique_ptr<GradientMemory> CompressorChoice::make_memory(std::int64_t elements) const {
  if (compressor->make_memory != nullptr) return compressor->make_memory(parameters, elements);
  return nullptr;
}

CompressorChoice parse_compressor(std::string_view text) {
  CompressorChoice choice;
  choice.error_feedback = text.starts_with(kErrorFeedback);
  const auto [name, given] = split_name(text.substr(choice.error_feedback ? kErrorFeedback.size() : 0));
  const Compressor& compressor = find_entry(compressors(), name, "compressor");
  choice.compressor = &compressor;
  choice.parameters = complete_parameters("compressor", name, compressor.fields, compressor.defaults, given);
  choice.codec = compressor.make(choice.parameters);
  return choice;
}

}  // namespace hbench
