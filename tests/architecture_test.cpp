// The house rule of folders as layers, checked on every #include. See the root README and each folder's own.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {
namespace {

/// What each folder may include from, beside itself.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> below;
};
const std::vector<Layer> kLayers{
    {"collectives", {}},
    {"workloads", {"collectives"}},
    {"analysis", {"collectives"}},
    {"reports", {"analysis", "collectives"}},
    {"bench", {"collectives", "workloads", "analysis", "reports"}},
};

/// Headers of others, and where they are at home.
struct Home {
  std::string_view header;  ///< its beginning
  std::string_view path;    ///< of the files that may include it, its beginning
};
constexpr Home kHomes[] = {
    {"sqlite3", "analysis/store/"},
    {"mpi", "collectives/executors/mpi"},
    {"cuda", "collectives/cuda/"},
    {"nccl", "collectives/cuda/"},
    {"nvml", "collectives/cuda/"},
    {"toml++/", "collectives/base/"},
    {"hwy/", "collectives/"},
    {"torch/", "workloads/"},
    {"torch/", "bench/micro/topk_"},
    {"ATen/", "workloads/"},
    {"c10/", "workloads/"},
    {"CLI/", "bench/"},
    {"gloo/", "bench/peers/"},
    {"benchmark/", "bench/micro/"},
    {"gtest/", "tests/"},
    {"gmock/", "tests/"},
};

std::string_view folder_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// Why `file` may not include `header` (with its brackets or quotes); nothing when it may.
std::optional<std::string> refusal(std::string_view file, std::string_view header) {
  const std::string_view name = header.substr(1, header.size() - 2);
  const std::string edge = std::string(file) + " includes " + std::string(header) + ": ";
  if (header.front() == '<') {
    std::string homes;
    for (const Home& home : kHomes) {
      if (!name.starts_with(home.header)) continue;
      if (file.starts_with(home.path)) return std::nullopt;
      homes += (homes.empty() ? "only " : " or ") + std::string(home.path);
    }
    return homes.empty() ? std::nullopt : std::optional(edge + homes);
  }
  const std::string_view from = folder_of(file);
  const std::string_view to = folder_of(name);
  const auto layer = std::ranges::find(kLayers, from, &Layer::folder);
  if (layer == kLayers.end() || std::ranges::find(kLayers, to, &Layer::folder) == kLayers.end())
    return edge + "write includes from the root";
  if (from == "reports" && name.starts_with("analysis/store/")) return edge + "reports never see the store";
  if (from != to && std::ranges::find(layer->below, to) == layer->below.end())
    return edge + "a folder includes only from those below it";
  return std::nullopt;
}

/// The header of an include line, with its brackets or quotes; nothing for other lines.
std::optional<std::string> included(std::string line) {
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
  constexpr std::string_view kDirective = "#include";
  if (!line.starts_with(kDirective) || line.size() < kDirective.size() + 3) return std::nullopt;
  const std::string header = line.substr(kDirective.size());
  const std::size_t end = header.find(header.front() == '<' ? '>' : '"', 1);
  return header.substr(0, end + 1);
}

bool is_source(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".cpp" || extension == ".hpp" || extension == ".cu" || extension == ".cuh";
}

TEST(Architecture, FoldersIncludeOnlyWhatIsBelowThem) {
  const std::filesystem::path root = HBENCH_SOURCE_DIR;
  int includes = 0;
  for (const Layer& layer : kLayers) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / layer.folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string file = std::filesystem::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        const auto header = included(line);
        if (!header) continue;
        ++includes;
        const auto why = refusal(file, *header);
        EXPECT_FALSE(why.has_value()) << *why;
      }
    }
  }
  EXPECT_GT(includes, 500) << "were the files found at all?";
}

/// The name that a line declares for a table, such as kRing in "extern const Algorithm kRing;".
std::optional<std::string> table_entry(const std::string& line) {
  constexpr std::string_view kDeclaration = "extern const ";
  if (!line.starts_with(kDeclaration) || line.back() != ';') return std::nullopt;
  const std::size_t name = line.rfind(' ') + 1;
  return line.substr(name, line.size() - 1 - name);
}

TEST(Architecture, EveryTestIsBuilt) {
  int tests = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(HBENCH_SOURCE_DIR) / "tests")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with("_test.cpp")) continue;
    std::ifstream in(entry.path().parent_path() / "CMakeLists.txt");
    const std::string list((std::istreambuf_iterator<char>(in)), {});
    EXPECT_NE(list.find(name), std::string::npos) << entry.path() << " is not in its CMakeLists.txt";
    ++tests;
  }
  EXPECT_GT(tests, 50) << "were the tests found at all?";
}

// The linker would take one entry for the other without a word: libraries give their first definition of a name.
TEST(Architecture, EntriesOfDifferentTablesHaveDifferentNames) {
  const std::filesystem::path root = HBENCH_SOURCE_DIR;
  std::map<std::string, std::string> definitions;
  for (const Layer& layer : kLayers) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / layer.folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string file = std::filesystem::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      std::optional<std::string> declared;
      for (std::string line; std::getline(in, line);) {
        if (declared && line.starts_with("constinit const ")) {
          const auto [other, is_new] = definitions.emplace(*declared, file);
          EXPECT_TRUE(is_new) << *declared << " is in " << other->second << " and in " << file;
        }
        declared = table_entry(line);
      }
    }
  }
  EXPECT_GT(definitions.size(), 40U) << "were the entries found at all?";
}

TEST(ArchitectureRule, FindsIncludes) {
  EXPECT_EQ(included("#include \"a/b.hpp\"  // why"), "\"a/b.hpp\"");
  EXPECT_EQ(included("  # include <mpi.h>"), "<mpi.h>");
  EXPECT_EQ(included("// #include <mpi.h>"), std::nullopt);
}

TEST(ArchitectureRule, AcceptsWhatIsBelow) {
  EXPECT_EQ(refusal("collectives/cost.cpp", "\"collectives/schedule.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("reports/text.cpp", "\"analysis/points.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("bench/main.cpp", "\"reports/report.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("collectives/executors/mpi_endpoint.cpp", "<mpi.h>"), std::nullopt);
  EXPECT_EQ(refusal("collectives/cuda/check.cpp", "<cuda_runtime_api.h>"), std::nullopt);
  EXPECT_EQ(refusal("analysis/store/sqlite.cpp", "<sqlite3.h>"), std::nullopt);
  EXPECT_EQ(refusal("analysis/csv.cpp", "<vector>"), std::nullopt);
}

TEST(ArchitectureRule, RefusesEveryOtherEdge) {
  EXPECT_TRUE(refusal("collectives/cost.cpp", "\"workloads/trace.hpp\""));
  EXPECT_TRUE(refusal("workloads/trace.cpp", "\"analysis/records.hpp\""));
  EXPECT_TRUE(refusal("analysis/points.cpp", "\"reports/document.hpp\""));
  EXPECT_TRUE(refusal("reports/text.cpp", "\"bench/plan.hpp\""));
  EXPECT_TRUE(refusal("reports/text.cpp", "\"workloads/trace.hpp\""));
  EXPECT_TRUE(refusal("reports/text.cpp", "\"analysis/store/store.hpp\""));
  EXPECT_TRUE(refusal("collectives/cost.cpp", "\"tests/mutate.hpp\""));
  EXPECT_TRUE(refusal("collectives/cost.cpp", "\"schedule.hpp\""));
  EXPECT_TRUE(refusal("analysis/points.cpp", "<sqlite3.h>"));
  EXPECT_TRUE(refusal("bench/data.cpp", "<sqlite3.h>"));
  EXPECT_TRUE(refusal("bench/worker.cpp", "<mpi.h>"));
  EXPECT_TRUE(refusal("collectives/executors/cuda_absent.cpp", "<cuda_runtime.h>"));
  EXPECT_TRUE(refusal("collectives/network/profile.cpp", "<torch/torch.h>"));
  EXPECT_TRUE(refusal("bench/main.cpp", "<benchmark/benchmark.h>"));
}

}  // namespace
}  // namespace hbench
