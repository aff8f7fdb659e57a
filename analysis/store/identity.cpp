#include "analysis/store/identity.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <vector>

#include "analysis/store/uuid.hpp"
#include "collectives/base/digest.hpp"

namespace hbench::store {
namespace {

/// Values one after another: texts with their lengths, so that no two lists of values have one text.
class Contents {
 public:
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    text_ += text;
  }
  void add(std::int64_t number) {
    text_ += fmt::format_int(number).str();
    text_ += ';';
  }
  /// Its bits: every value has its own, also those that print alike.
  void add(double number) { add(std::bit_cast<std::int64_t>(number)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Adds the first `columns` texts of each row.
void add_rows(Contents& contents, Database& database, std::string_view sql, std::int64_t id, int columns) {
  Statement row(database, sql);
  row.bind(id);
  while (row.step())
    for (int column = 0; column < columns; ++column) contents.add(row.text(column));
}

std::string digest_of_samples(Database& database, std::int64_t case_id) {
  Contents contents;
  Statement row(
      database,
      "SELECT metric, unit, launch, rank, iteration, warmup, value FROM sample WHERE case_id = ? ORDER BY seq");
  row.bind(case_id);
  while (row.step()) {
    for (const int text : {0, 1}) contents.add(row.text(text));
    for (const int number : {2, 3, 4, 5}) contents.add(row.integer(number));
    contents.add(row.real(6));
  }
  return digest_text(contents.text());
}

std::string contents_of(Database& database, std::int64_t run) {
  Contents contents;
  add_rows(contents, database, "SELECT command, version, started_at FROM run WHERE id = ?", run, 3);
  add_rows(contents, database,
           "SELECT key, value FROM environment WHERE run_id = ? AND key NOT LIKE 'machine %' ORDER BY key", run, 2);
  add_rows(contents, database, "SELECT key, value FROM label WHERE run_id = ? ORDER BY key", run, 2);
  Statement row(database,
                "SELECT id, status, failure, exit_code, evidence, workload, gpus, algorithm, implementation "
                "FROM scaling_case WHERE run_id = ? ORDER BY id");
  row.bind(run);
  while (row.step()) {
    for (int column = 1; column <= 8; ++column) contents.add(row.text(column));
    contents.add(digest_of_samples(database, row.integer(0)));
  }
  return contents.text();
}

}  // namespace

void identify_runs(Database& database) {
  std::vector<std::int64_t> runs;
  Statement row(database, "SELECT id FROM run WHERE uuid = '' ORDER BY id");
  while (row.step()) runs.push_back(row.integer(0));
  std::map<std::string, int> seen;
  Statement update(database, "UPDATE run SET uuid = ? WHERE id = ?");
  for (const std::int64_t run : runs) {
    std::string contents = contents_of(database, run);
    if (const int before = seen[contents]++; before > 0) contents += fmt::format("{}", before);
    update.run(uuid_of(contents), run);
  }
}

}  // namespace hbench::store
