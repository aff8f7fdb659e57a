#pragma once

/// The fields of a case: one list from which its key, the worker protocol, exports, the columns of the database and
/// their documentation are made. A new field is a member of `Case`, an entry here and a migration that adds its column.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/records/records.hpp"

namespace hbench {

/// What a field says, and so what compares by it. A question is `work` and `way`; a place is `place`, and `origin`
/// where nothing was timed.
enum class Part : std::uint8_t {
  work,      ///< what is computed and exchanged; a baseline does the same work
  way,       ///< how it is spread over workers; a baseline is one process, and has none of it
  place,     ///< where an answer holds
  origin,    ///< what a simulated or published figure was taken from; of a timed one, words that nothing compares
  producer,  ///< what gave the answer
};
std::string_view to_string(Part part);

/// The value of a field, whatever the type of its member.
using FieldValue = std::variant<std::string, std::int64_t, double, bool>;
/// Empty, 0 or false: the field does not apply, or was not given.
bool is_unset(const FieldValue& value);
/// The value for people; `none` where it is unset.
std::string in_words(const FieldValue& value);

struct CaseField {
  std::string_view name;  ///< in keys, JSON, CSV and SQL
  Part part;
  int since;              ///< the schema version that brought its column
  std::string_view text;  ///< for people, in Markdown
  FieldValue (*get)(const Case& asked);
  /// \pre the value is of the type that `get` gives. \throws Error (usage) for an evidence that nothing knows.
  void (*set)(Case& asked, const FieldValue& value);
};

/// In the order of keys, columns and documentation. A later field may depend on an earlier one when it is set.
std::span<const CaseField> case_fields();

}  // namespace hbench
