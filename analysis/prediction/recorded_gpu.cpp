#include "analysis/prediction/recorded_gpu.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace hbench {
namespace {

/// The words of a name, in small letters.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

/// Whether some words that follow each other are the model: `L40S` is no `l4`, `RTX 2080 Ti` is an `rtx2080ti`.
bool has_model(const std::vector<std::string>& words, const std::string& model) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string joined;
    for (std::size_t next = first; next < words.size() && joined.size() < model.size(); ++next)
      if ((joined += words[next]) == model) return true;
  }
  return false;
}

bool has_beginning(const std::vector<std::string>& words, std::string_view beginning) {
  return std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(beginning); });
}

}  // namespace

bool is_gpu_of_catalogue(std::string_view driver_name, std::string_view gpu) {
  const std::vector<std::string> name = words_in(driver_name);
  const std::string model(gpu.substr(0, gpu.find('-')));
  if (model.empty() || !has_model(name, model)) return false;
  if (gpu.find("pcie") != gpu.npos) return !has_beginning(name, "sxm");
  return gpu.find("sxm") == gpu.npos || !has_beginning(name, "pcie");
}

bool is_recorded_on(const Trace& trace, const Profile& cluster) {
  return trace.recorded && is_gpu_of_catalogue(trace.recorded->gpu, cluster.gpu);
}

}  // namespace hbench
