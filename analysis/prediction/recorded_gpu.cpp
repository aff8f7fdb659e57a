#include "analysis/prediction/recorded_gpu.hpp"

#include <cctype>
#include <string>

namespace hbench {
namespace {

std::string letters_and_digits(std::string_view text) {
  std::string kept;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      kept.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return kept;
}

/// Whether the model stands in the name and is not the beginning of another one: `l4` is not in `l40s`.
bool has_model(const std::string& name, const std::string& model) {
  for (std::size_t at = name.find(model); at != name.npos; at = name.find(model, at + 1)) {
    const std::size_t end = at + model.size();
    const bool longer = end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) != 0) &&
                        std::isdigit(static_cast<unsigned char>(model.back())) != 0;
    if (!longer) return true;
  }
  return false;
}

}  // namespace

bool is_gpu_of_catalogue(std::string_view driver_name, std::string_view gpu) {
  const std::string name = letters_and_digits(driver_name);
  const std::string model(gpu.substr(0, gpu.find('-')));
  if (model.empty() || !has_model(name, model)) return false;
  const bool pcie = name.find("pcie") != name.npos, sxm = name.find("sxm") != name.npos;
  if (gpu.find("pcie") != gpu.npos) return !sxm;
  return gpu.find("sxm") == gpu.npos || !pcie;
}

bool is_recorded_on(const Trace& trace, const Profile& cluster) {
  return trace.recorded && is_gpu_of_catalogue(trace.recorded->gpu, cluster.gpu);
}

}  // namespace hbench
