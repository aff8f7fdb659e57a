#include "bench/output/titles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hbench {
namespace {

constexpr std::string_view kProfile = "title of profile ", kGpu = "GPU of profile ", kWorkload = "title of workload ";

/// `V100 SXM2` of `NVIDIA V100 SXM2, fp32`; what the profile calls it where no file describes that GPU.
std::string gpu_in_words(const Profile& profile) {
  std::string text = profile.gpu_title.empty() ? profile.gpu : profile.gpu_title;
  text = text.substr(0, text.find_first_of(",("));
  const std::string_view maker = "NVIDIA ";
  if (text.starts_with(maker)) text.erase(0, maker.size());
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

void describe(ReportInput& input, const std::string& name, const Profile& profile) {
  input.profile_titles[name] = profile.title;
  input.profile_gpus[name] = gpu_in_words(profile);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void describe(ReportInput& input, const Data& data) {
  for (const std::string& name : data.profiles.names()) describe(input, name, data.profiles.load(name));
  for (const std::string& name : data.traces.names()) input.workload_titles[name] = data.traces.load(name).title;
}

void describe(ReportInput& input, const Catalog& catalog) {
  for (const auto& [name, profile] : catalog.profiles) describe(input, name, profile);
  for (const auto& [name, trace] : catalog.traces) input.workload_titles[name] = trace.title;
}

void describe(ReportInput& input, const std::vector<Run>& runs) {
  const std::pair<std::string_view, std::map<std::string, std::string>*> kinds[] = {
      {kProfile, &input.profile_titles}, {kGpu, &input.profile_gpus}, {kWorkload, &input.workload_titles}};
  for (const Run& run : runs)
    for (const auto& [fact, value] : run.environment)
      for (const auto& [kind, titles] : kinds)
        if (fact.starts_with(kind)) (*titles)[fact.substr(kind.size())] = value;
}

void remember_titles(Run& run, const Catalog& catalog, const Data& data) {
  const std::vector<std::string> profiles = data.profiles.names(), workloads = data.traces.names();
  for (const auto& [name, profile] : catalog.profiles) {
    if (contains(profiles, name)) continue;
    run.environment[fmt::format("{}{}", kProfile, name)] = profile.title;
    run.environment[fmt::format("{}{}", kGpu, name)] = gpu_in_words(profile);
  }
  for (const auto& [name, trace] : catalog.traces)
    if (!contains(workloads, name)) run.environment[fmt::format("{}{}", kWorkload, name)] = trace.title;
}

}  // namespace hbench
