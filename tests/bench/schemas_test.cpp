/// Fields of what verbs print with --json: programs of others read them.

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/command/verb.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::schemas_test {
namespace {

using Lines = std::set<std::string>;

/// Adds a line for each field below `place`: its path and its type.
void add_fields(const nlohmann::json& schema, const std::string& place, Lines& lines) {
  if (schema.contains("properties"))
    for (const auto& [name, field] : schema.at("properties").items()) {
      const std::string path = place + "." + name;
      lines.insert(path + ": " + (field.contains("type") ? field.at("type").dump() : "any"));
      add_fields(field, path, lines);
    }
  if (schema.contains("items")) add_fields(schema.at("items"), place + "[]", lines);
}

/// All fields of all answers. Titles are looked at on the way.
Lines fields_of_answers() {
  const TemporaryFolder folder;
  find_entry(inner_verbs(), "schemas", "verb").run({{"--folder", folder.path().string()}, "hbench schemas"});
  Lines lines;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const auto schema = nlohmann::json::parse(read_file(entry.path()));
    EXPECT_THAT(schema.at("title").get<std::string>(), StartsWith("hbench ")) << entry.path();
    add_fields(schema, entry.path().stem().string(), lines);
  }
  return lines;
}

// HBENCH_UPDATE_FIELDS=1 bench_test --gtest_filter='JsonFields.*' writes the list anew.
TEST(JsonFields, AreThoseOfTheListAndChangeOnlyWithIt) {
  const std::filesystem::path file = HBENCH_SOURCE_DIR "/tests/bench/json_fields.txt";
  const Lines fields = fields_of_answers();
  if (std::getenv("HBENCH_UPDATE_FIELDS") != nullptr) {
    std::string text;
    for (const std::string& line : fields) text += line + "\n";
    write_bytes(file, text);
  }
  const std::string listed = read_file(file);
  Lines known;
  for (const std::string_view line : lines_of(listed))
    if (!line.empty()) known.emplace(line);
  for (const std::string& line : fields) EXPECT_TRUE(known.contains(line)) << "new, or of another type: " << line;
  for (const std::string& line : known) EXPECT_TRUE(fields.contains(line)) << "gone, or of another type: " << line;
}

}  // namespace
}  // namespace hbench::schemas_test
