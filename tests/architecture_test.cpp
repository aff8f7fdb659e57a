// The house rule of folders as layers, checked on every #include. See the root README and each folder's own.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbench::architecture_test {
namespace {

/// The folders are a line: each may include from those above it in this table, beside itself.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> below;
};
const std::vector<Layer> kLayers{
    {"collectives", {}},
    {"workloads", {"collectives"}},
    {"analysis", {"collectives", "workloads"}},
    {"reports", {"collectives", "workloads", "analysis"}},
    {"bench", {"collectives", "workloads", "analysis", "reports"}},
};

/// The rooms of all top folders, lowest first, and which others of the same top folder each includes from. A room is a
/// subfolder with all below it; loose files of a top folder are a room too.
const std::vector<Layer> kRooms{
    {"collectives/base", {}},
    {"collectives/arithmetic", {"collectives/base"}},
    {"collectives/device", {"collectives/base", "collectives/arithmetic"}},
    {"collectives/placement", {}},
    {"collectives/fusion", {"collectives/base", "collectives/placement"}},
    {"collectives/schedule", {"collectives/base"}},
    {"collectives/algorithms", {"collectives/base", "collectives/placement", "collectives/schedule"}},
    {"collectives/compressors",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/schedule"}},
    {"collectives/host",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/compressors"}},
    {"collectives/network",
     {"collectives/base", "collectives/schedule", "collectives/placement", "collectives/algorithms",
      "collectives/compressors"}},
    {"collectives/transport",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/schedule"}},
    {"collectives/program",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/schedule",
      "collectives/compressors", "collectives/transport"}},
    {"collectives/endpoints",
     {"collectives/base", "collectives/arithmetic", "collectives/schedule", "collectives/algorithms",
      "collectives/transport", "collectives/program"}},
    {"collectives/cuda",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/schedule",
      "collectives/compressors", "collectives/transport", "collectives/program", "collectives/endpoints"}},
    {"collectives/exchange",
     {"collectives/base", "collectives/arithmetic", "collectives/device", "collectives/schedule",
      "collectives/algorithms", "collectives/compressors", "collectives/program", "collectives/endpoints"}},
    {"collectives/executors",
     {"collectives/base", "collectives/compressors", "collectives/endpoints", "collectives/cuda"}},
    {"workloads/models", {}},
    {"workloads/data", {"workloads/models"}},
    {"workloads/presets", {}},
    {"workloads/optimizers", {}},
    {"workloads/methods", {"workloads/optimizers"}},
    {"workloads/step", {"workloads/models", "workloads/presets", "workloads/optimizers", "workloads/methods"}},
    {"workloads/simulation", {"workloads/methods", "workloads/step"}},
    {"workloads/engine",
     {"workloads/models", "workloads/data", "workloads/optimizers", "workloads/methods", "workloads/step",
      "workloads/simulation"}},
    {"workloads", {"workloads/models", "workloads/data", "workloads/step", "workloads/engine"}},
    {"analysis/catalogue", {}},
    {"analysis/statistics", {}},
    {"analysis/records", {"analysis/statistics"}},
    {"analysis/published", {"analysis/records"}},
    {"analysis/trace", {"analysis/statistics", "analysis/records"}},
    {"analysis/points", {"analysis/statistics", "analysis/records", "analysis/published", "analysis/trace"}},
    {"analysis/store", {"analysis/records", "analysis/points"}},
    {"analysis/import", {"analysis/statistics", "analysis/records", "analysis/points", "analysis/store"}},
    {"analysis/prediction",
     {"analysis/statistics", "analysis/records", "analysis/published", "analysis/trace", "analysis/points",
      "analysis/store"}},
    {"analysis/fit",
     {"analysis/statistics", "analysis/records", "analysis/points", "analysis/import", "analysis/prediction"}},
    {"reports/document", {}},
    {"reports/formats", {"reports/document"}},
    {"reports", {"reports/document", "reports/formats"}},
    {"reports/rows", {"reports/document", "reports/formats"}},
    {"reports/scaling", {"reports/formats", "reports"}},
    {"reports/fit", {"reports/rows"}},
    {"reports/import", {"reports/formats"}},
    {"reports/trace", {"reports/document"}},
    {"reports/catalogue", {"reports/rows"}},
    {"bench/command", {}},
    {"bench/database", {}},
    {"bench/worker", {}},
    {"bench/launch", {"bench/worker"}},
    {"bench/frameworks", {"bench/launch"}},
    {"bench/doctor", {"bench/worker", "bench/launch"}},
    {"bench/front", {"bench/worker", "bench/launch"}},
    {"bench/hosts", {"bench/command", "bench/worker", "bench/launch", "bench/doctor"}},
    {"bench/output", {"bench/command", "bench/launch", "bench/frameworks"}},
    {"bench/sweep",
     {"bench/command", "bench/worker", "bench/launch", "bench/frameworks", "bench/doctor", "bench/hosts",
      "bench/output"}},
    {"bench/calibrate", {"bench/launch", "bench/frameworks", "bench/doctor", "bench/output", "bench/sweep"}},
    {"bench/collective",
     {"bench/command", "bench/worker", "bench/launch", "bench/doctor", "bench/output", "bench/sweep"}},
    {"bench/emulation", {"bench/worker", "bench/launch", "bench/sweep"}},
    {"bench/micro", {"bench/worker", "bench/launch", "bench/sweep"}},
    {"bench/verbs",
     {"bench/command", "bench/database", "bench/worker", "bench/launch", "bench/frameworks", "bench/doctor",
      "bench/hosts", "bench/output", "bench/sweep", "bench/calibrate", "bench/collective", "bench/emulation"}},
    {"bench", {"bench/command", "bench/front", "bench/launch", "bench/verbs"}},
    {"bench/peers", {"bench/worker", "bench/verbs"}},
};

/// Headers of others, and where they are at home.
struct Home {
  std::string_view header;  ///< its beginning
  std::string_view path;    ///< of the files that may include it, its beginning
};
constexpr Home kHomes[] = {
    {"sqlite3", "analysis/store/"},
    {"mpi", "collectives/transport/mpi"},
    {"mpi", "collectives/endpoints/mpi"},
    {"cuda", "collectives/cuda/"},
    {"nccl", "collectives/cuda/"},
    {"nvml", "collectives/cuda/"},
    {"toml++/", "collectives/base/"},
    {"re2/", "analysis/import/number_pattern"},
    {"hwy/", "collectives/"},
    {"torch/", "workloads/"},
    {"ATen/", "bench/micro/topk_"},
    {"ATen/", "workloads/"},
    {"c10/", "workloads/"},
    {"CLI/", "bench/command/arguments.cpp"},
    {"gloo/", "bench/peers/"},
    {"benchmark/", "bench/micro/"},
    {"gtest/", "tests/"},
    {"gmock/", "tests/"},
};

std::string_view folder_of(std::string_view path) { return path.substr(0, path.find('/')); }

/// The room of a file: a subfolder of a top folder with all below it, or, of loose files, the top folder.
std::string_view room_of(std::string_view path) {
  const std::size_t top = path.find('/');
  const std::size_t sub = path.find('/', top + 1);
  return path.substr(0, sub == std::string_view::npos ? top : sub);
}

/// What `bench/features.cmake` names.
const std::set<std::string, std::less<>>& features() {
  static const std::set<std::string, std::less<>> names = [] {
    std::ifstream in(std::filesystem::path(HBENCH_SOURCE_DIR) / "bench/features.cmake");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t begin = text.find("set(HBENCH_FEATURES") + std::string_view("set(HBENCH_FEATURES").size();
    std::istringstream words(text.substr(begin, text.find(')', begin) - begin));
    return std::set<std::string, std::less<>>(std::istream_iterator<std::string>(words), {});
  }();
  return names;
}

/// The feature in whose folder a file lies; empty for the core.
std::string_view feature_of(std::string_view path) {
  const std::string_view room = room_of(path);
  const std::string_view name = room.substr(std::min(room.size(), room.find('/') + 1));
  return room.find('/') != room.npos && features().contains(name) ? name : std::string_view();
}

/// A source with its header: what is read, changed and built as one.
std::string unit_of(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

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
  if (const std::string_view feature = feature_of(name); !feature.empty() && feature != feature_of(file))
    return edge + "only the feature " + std::string(feature) + " includes from its folders";
  return std::nullopt;
}

/// Why `file` may not include the header `name` of the same top folder; nothing when it may.
std::optional<std::string> refusal_of_room(std::string_view file, std::string_view name) {
  if (!feature_of(file).empty()) return std::nullopt;  // what it may include is the core, and itself
  const std::string_view from = room_of(file), to = room_of(name);
  const std::string edge = std::string(file) + " includes " + std::string(name) + ": ";
  const auto layer = std::ranges::find(kRooms, from, &Layer::folder);
  if (layer == kRooms.end() || std::ranges::find(kRooms, to, &Layer::folder) == kRooms.end())
    return edge + "a file lies in one of the rooms of kRooms";
  if (from != to && std::ranges::find(layer->below, to) == layer->below.end())
    return edge + std::string(from) + " does not include from " + std::string(to) + " (kRooms)";
  return std::nullopt;
}

/// Who includes from whom.
using Graph = std::map<std::string, std::set<std::string>>;

/// The way from `node` back to a node of `way`, which leads to `node`; empty when there is none. What has been left
/// without a cycle is `done`.
std::string cycle_from(const Graph& graph, const std::string& node, std::vector<std::string>& way,
                       std::set<std::string>& done) {
  if (const auto seen = std::ranges::find(way, node); seen != way.end()) {
    std::string cycle;
    for (auto it = seen; it != way.end(); ++it) cycle += *it + " -> ";
    return cycle + node;
  }
  if (!graph.contains(node) || done.contains(node)) return {};
  way.push_back(node);
  for (const std::string& next : graph.at(node))
    if (std::string cycle = cycle_from(graph, next, way, done); !cycle.empty()) return cycle;
  way.pop_back();
  done.insert(node);
  return {};
}

/// One cycle; empty when there is none.
std::string cycle_of(const Graph& graph) {
  std::set<std::string> done;
  for (const auto& [node, next] : graph) {
    std::vector<std::string> way;
    if (std::string cycle = cycle_from(graph, node, way, done); !cycle.empty()) return cycle;
  }
  return {};
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

/// Calls `visit` with each file and each header that it includes, of one top folder or of a folder in it.
int for_each_include(std::string_view folder,
                     const std::function<void(const std::string&, const std::string&)>& visit) {
  const std::filesystem::path root = HBENCH_SOURCE_DIR;
  int includes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const std::string file = std::filesystem::relative(entry.path(), root).generic_string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const auto header = included(line);
      if (!header) continue;
      ++includes;
      visit(file, *header);
    }
  }
  return includes;
}

/// A header of ours without its quotes, where it lies in `folder`; nothing for others.
std::optional<std::string> header_in(std::string_view folder, const std::string& header) {
  std::string name = header.substr(1, header.size() - 2);
  const bool inside = header.front() == '"' && folder_of(name) == folder;
  return inside ? std::optional(std::move(name)) : std::nullopt;
}

TEST(Architecture, FoldersIncludeOnlyWhatIsBelowThem) {
  int includes = 0;
  for (const Layer& layer : kLayers)
    includes += for_each_include(layer.folder, [](const std::string& file, const std::string& header) {
      const auto why = refusal(file, header);
      EXPECT_FALSE(why.has_value()) << *why;
    });
  EXPECT_GT(includes, 500) << "were the files found at all?";
}

TEST(Architecture, RoomsIncludeOnlyFromThoseThatTheyList) {
  int includes = 0;
  for (const Layer& layer : kLayers)
    for_each_include(layer.folder, [&](const std::string& file, const std::string& header) {
      const auto name = header_in(layer.folder, header);
      if (!name) return;
      ++includes;
      const auto why = refusal_of_room(file, *name);
      EXPECT_FALSE(why.has_value()) << *why;
    });
  EXPECT_GT(includes, 1000) << "were the files found at all?";
}

TEST(Architecture, RoomsListNoMoreThanTheyInclude) {
  std::set<std::pair<std::string, std::string>> used;
  for (const Layer& layer : kLayers)
    for_each_include(layer.folder, [&](const std::string& file, const std::string& header) {
      if (const auto name = header_in(layer.folder, header))
        used.emplace(std::string(room_of(file)), std::string(room_of(*name)));
    });
  for (const Layer& room : kRooms)
    for (const std::string_view below : room.below)
      EXPECT_TRUE(used.contains({std::string(room.folder), std::string(below)})) << room.folder << ", " << below;
}

// Listed so, there is no circle of rooms.
TEST(Architecture, RoomsAreListedLowestFirst) {
  std::set<std::string_view> lower;
  for (const Layer& room : kRooms) {
    for (const std::string_view below : room.below) EXPECT_TRUE(lower.contains(below)) << room.folder << ", " << below;
    EXPECT_TRUE(lower.insert(room.folder).second) << room.folder << " is listed twice";
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::path(HBENCH_SOURCE_DIR) / room.folder)) << room.folder;
  }
}

// Elsewhere, what is nested deep would end the program.
TEST(Architecture, JsonOfOthersIsParsedInOnePlace) {
  const std::filesystem::path root = HBENCH_SOURCE_DIR;
  std::set<std::string> parsing;
  for (const Layer& layer : kLayers)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / layer.folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);)
        if (line.find("son::parse(") != std::string::npos)
          parsing.insert(std::filesystem::relative(entry.path(), root).generic_string());
    }
  // The second after the same check, for the line of an error.
  EXPECT_EQ(parsing, (std::set<std::string>{"collectives/base/read_json.hpp", "analysis/import/json_value.cpp"}));
}

TEST(Architecture, NoFilesIncludeEachOtherInACircle) {
  Graph graph;
  for (const Layer& layer : kLayers)
    for_each_include(layer.folder, [&](const std::string& file, const std::string& header) {
      const auto name = header_in(layer.folder, header);
      if (name && unit_of(file) != unit_of(*name)) graph[unit_of(file)].insert(unit_of(*name));
    });
  EXPECT_GT(graph.size(), 400U) << "were the files found at all?";
  EXPECT_EQ(cycle_of(graph), "");
}

/// The name of the entry of a table that a line defines, such as kRing in "extern constinit const Algorithm kRing{".
std::optional<std::string> table_entry(std::string_view line) {
  constexpr std::string_view kExtern = "extern ", kDefinition = "constinit const ";
  if (line.starts_with(kExtern)) line.remove_prefix(kExtern.size());
  if (!line.starts_with(kDefinition)) return std::nullopt;
  line = line.substr(line.find(' ', kDefinition.size()) + 1);
  return std::string(line.substr(0, line.find_first_of(" {")));
}

// A GLOB with CONFIGURE_DEPENDS runs CMake in every build, and `ninja -n` never says that there is no work to do.
TEST(Architecture, ABuildCanHaveNothingToDo) {
  for (const Layer& layer : kLayers) {
    std::ifstream in(std::filesystem::path(HBENCH_SOURCE_DIR) / layer.folder / "CMakeLists.txt");
    for (std::string line; std::getline(in, line);)
      EXPECT_FALSE(line.starts_with("file(GLOB") && line.find("CONFIGURE_DEPENDS") != line.npos) << layer.folder;
  }
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

/// The suite of a line that begins a test, such as Csv in "TEST_F(Csv, ReadsPlainFields) {".
std::optional<std::string> test_suite(std::string_view line) {
  for (const std::string_view macro : {"TEST(", "TEST_F(", "TEST_P("})
    if (line.starts_with(macro)) return std::string(line.substr(macro.size(), line.find(',') - macro.size()));
  return std::nullopt;
}

// ctest runs a suite as one entry and knows entries by their names alone, and whoever looks for a suite looks for one
// file.
TEST(Architecture, EveryTestSuiteIsInOneFile) {
  const std::filesystem::path tests = std::filesystem::path(HBENCH_SOURCE_DIR) / "tests";
  std::map<std::string, std::filesystem::path> homes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const auto suite = test_suite(line);
      if (!suite) continue;
      const auto home = homes.emplace(*suite, entry.path()).first;
      EXPECT_EQ(home->second, entry.path()) << "of the suite " << *suite;
    }
  }
  EXPECT_GT(homes.size(), 150U) << "were the tests found at all?";
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
      for (std::string line; std::getline(in, line);) {
        const std::optional<std::string> name = table_entry(line);
        if (!name) continue;
        const auto [other, is_new] = definitions.emplace(*name, file);
        EXPECT_TRUE(is_new) << *name << " is in " << other->second << " and in " << file;
      }
    }
  }
  EXPECT_GT(definitions.size(), 40U) << "were the entries found at all?";
}

/// The type that a line of a header defines for all, such as Csv in "struct Csv {".
std::optional<std::string> type_defined(std::string_view line) {
  for (const std::string_view word : {"struct ", "class ", "enum class "}) {
    if (!line.starts_with(word) || !line.ends_with('{')) continue;
    line.remove_prefix(word.size());
    return std::string(line.substr(0, line.find_first_of(" :{")));
  }
  return std::nullopt;
}

// Two types of one name share their destructors and constructors, whichever the linker finds first.
TEST(Architecture, TypesOfDifferentHeadersHaveDifferentNames) {
  const std::filesystem::path root = HBENCH_SOURCE_DIR;
  std::map<std::string, std::filesystem::path> homes;
  for (const Layer& layer : kLayers)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / layer.folder)) {
      if (entry.path().extension() != ".hpp") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        const auto type = type_defined(line);
        if (!type) continue;
        EXPECT_EQ(homes.emplace(*type, entry.path()).first->second, entry.path()) << "of the type " << *type;
      }
    }
  EXPECT_GT(homes.size(), 500U) << "were the headers found at all?";
}

TEST(ArchitectureRule, FindsTypes) {
  EXPECT_EQ(type_defined("struct Csv {"), "Csv");
  EXPECT_EQ(type_defined("enum class Kind : std::uint8_t {"), "Kind");
  EXPECT_EQ(type_defined("class Policy final : public Base {"), "Policy");
  EXPECT_EQ(type_defined("class Forward;"), std::nullopt);
  EXPECT_EQ(type_defined("  struct Nested {"), std::nullopt) << "it has the name of what it is in as well";
}

TEST(ArchitectureRule, FindsIncludes) {
  EXPECT_EQ(included("#include \"a/b.hpp\"  // why"), "\"a/b.hpp\"");
  EXPECT_EQ(included("  # include <mpi.h>"), "<mpi.h>");
  EXPECT_EQ(included("// #include <mpi.h>"), std::nullopt);
}

TEST(ArchitectureRule, FindsSuitesOfTests) {
  EXPECT_EQ(test_suite("TEST_F(Csv, ReadsPlainFields) {"), "Csv");
  EXPECT_EQ(test_suite("TEST(Plan, IsEmpty) {"), "Plan");
  EXPECT_EQ(test_suite("  TEST(Plan, IsEmpty) {"), std::nullopt);
}

TEST(ArchitectureRule, AcceptsWhatIsBelow) {
  EXPECT_EQ(refusal("collectives/algorithms/recursive_doubling.cpp", "\"collectives/schedule/schedule.hpp\""),
            std::nullopt);
  EXPECT_EQ(refusal("reports/formats/text_table.cpp", "\"analysis/points/points.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("bench/main.cpp", "\"reports/report.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("analysis/prediction/plan.cpp", "\"workloads/step/strategy.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("reports/choose/choice.cpp", "\"workloads/step/trace.hpp\""), std::nullopt);
  EXPECT_EQ(refusal("collectives/endpoints/mpi_endpoint.cpp", "<mpi.h>"), std::nullopt);
  EXPECT_EQ(refusal("collectives/cuda/cuda_device.cpp", "<cuda_runtime_api.h>"), std::nullopt);
  EXPECT_EQ(refusal("analysis/store/sqlite.cpp", "<sqlite3.h>"), std::nullopt);
  EXPECT_EQ(refusal("analysis/published/published.cpp", "<vector>"), std::nullopt);
}

TEST(ArchitectureRule, RefusesEveryOtherEdge) {
  EXPECT_TRUE(refusal("collectives/algorithms/recursive_doubling.cpp", "\"workloads/step/trace.hpp\""));
  EXPECT_TRUE(refusal("workloads/step/trace.cpp", "\"analysis/records/records.hpp\""));
  EXPECT_TRUE(refusal("analysis/points/points.cpp", "\"reports/document/document.hpp\""));
  EXPECT_TRUE(refusal("reports/formats/text_table.cpp", "\"bench/sweep/plan.hpp\""));
  EXPECT_TRUE(refusal("analysis/prediction/plan.cpp", "\"analysis/choose/choose.hpp\"")) << "the core needs no feature";
  EXPECT_TRUE(refusal("bench/choose/choose.cpp", "\"reports/bandwidth/bandwidth.hpp\"")) << "nor does another feature";
  EXPECT_EQ(refusal("bench/choose/choose.cpp", "\"reports/choose/choice.hpp\""), std::nullopt);
  EXPECT_TRUE(refusal("workloads/step/strategy.cpp", "\"analysis/prediction/plan.hpp\""));
  EXPECT_TRUE(refusal("reports/formats/text_table.cpp", "\"analysis/store/store.hpp\""));
  EXPECT_TRUE(refusal("collectives/algorithms/recursive_doubling.cpp", "\"tests/support/mutate.hpp\""));
  EXPECT_TRUE(refusal("collectives/algorithms/recursive_doubling.cpp", "\"schedule.hpp\""));
  EXPECT_TRUE(refusal("analysis/points/points.cpp", "<sqlite3.h>"));
  EXPECT_TRUE(refusal("bench/data.cpp", "<sqlite3.h>"));
  EXPECT_TRUE(refusal("bench/worker.cpp", "<mpi.h>"));
  EXPECT_TRUE(refusal("collectives/executors/executors.cpp", "<cuda_runtime.h>"));
  EXPECT_TRUE(refusal("collectives/network/profile.cpp", "<torch/torch.h>"));
  EXPECT_TRUE(refusal("bench/main.cpp", "<benchmark/benchmark.h>"));
  EXPECT_TRUE(refusal("bench/verbs/list.cpp", "<CLI/CLI.hpp>"));
}

TEST(ArchitectureRule, KnowsTheRooms) {
  EXPECT_EQ(refusal_of_room("collectives/algorithms/recursive_doubling.cpp", "collectives/schedule/schedule.hpp"),
            std::nullopt);
  EXPECT_EQ(
      refusal_of_room("collectives/algorithms/recursive_doubling.cpp", "collectives/algorithms/recursive_doubling.cpp"),
      std::nullopt);
  EXPECT_EQ(refusal_of_room("reports/formats/html/page.cpp", "reports/document/document.hpp"), std::nullopt);
  EXPECT_TRUE(refusal_of_room("collectives/schedule/checker.cpp", "collectives/algorithms/algorithm.hpp"));
  EXPECT_TRUE(refusal_of_room("collectives/endpoints/endpoint.hpp", "collectives/executors/executor.hpp"));
  EXPECT_TRUE(refusal_of_room("collectives/schedule.cpp", "collectives/schedule/schedule.hpp"));
  EXPECT_TRUE(refusal_of_room("analysis/elsewhere/file.cpp", "analysis/records/records.hpp"));
  EXPECT_TRUE(refusal_of_room("analysis/records/records.cpp", "analysis/points/points.hpp"));
  EXPECT_TRUE(refusal_of_room("workloads/engine/replica.cpp", "workloads/training.hpp"));
}

TEST(ArchitectureRule, FindsACycle) {
  EXPECT_EQ(cycle_of({}), "");
  EXPECT_EQ(cycle_of({{"a", {"b", "c"}}, {"b", {"d"}}, {"c", {"d"}}}), "");
  EXPECT_EQ(cycle_of({{"a", {"b"}}, {"b", {"c", "d"}}, {"d", {"b"}}}), "b -> d -> b");
}

TEST(ArchitectureRule, TellsRoomsAndUnits) {
  EXPECT_EQ(room_of("workloads/training.hpp"), "workloads");
  EXPECT_EQ(room_of("reports/formats/html/page.cpp"), "reports/formats");
  EXPECT_EQ(unit_of("reports/formats/html/page.cpp"), unit_of("reports/formats/html/page.hpp"));
}

}  // namespace
}  // namespace hbench::architecture_test
