#include <array>

#include "bench/command/arguments.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "reports/rows/row.hpp"

namespace hbench {
namespace {

/// What is cited.
struct Citation {
  std::string title = "hbench", version = HBENCH_VERSION;
};

void cite_fields(Row& row, const Citation& citation) {
  row.field("title", citation.title).in("title");
  row.field("version", citation.version).in("version");
}

std::string cite_json(const Citation& citation, Form form = Form::values) {
  return object_text(form, "hbench cite --json", citation, cite_fields);
}

ExitCode run_cite(const Call& call) {
  DocumentOutput output;
  Arguments app("Says how hbench is cited.", "hbench cite");
  app.footer("Examples:\n  hbench cite\n  hbench cite --json");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  const Citation citation;
  output.deliver({.title = "How to cite hbench", .blocks = {table_of(std::array{citation}, cite_fields)}},
                 [&] { return cite_json(citation); });
  return ExitCode::good;
}

constexpr Verb kCite{.name = "cite", .summary = "say how hbench is cited", .place = 20, .run = run_cite};
constexpr std::array kCiteVerbs{&kCite};
constexpr std::array kCiteSchemas{PublishedSchema{"cite-1", [] { return cite_json(Citation{}, Form::schema); }}};

}  // namespace

extern const Feature kCiteFeature;
constinit const Feature kCiteFeature{.verbs = kCiteVerbs, .schemas = kCiteSchemas};

}  // namespace hbench
