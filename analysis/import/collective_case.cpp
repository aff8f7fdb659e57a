#include "analysis/import/collective_case.hpp"

#include "analysis/import/cases.hpp"
#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

std::string type_name(std::string_view type) {
  try {
    return std::string(entry_of(parse_data_type(type)).name);
  } catch (const Error&) {
    return std::string(type);
  }
}

std::string operation_name(std::string_view operation) {
  try {
    return std::string(entry_of(parse_reduce_op(operation)).name);
  } catch (const Error&) {
    return std::string(operation);
  }
}

}  // namespace

Case collective_case(std::string_view program, CollectiveKind kind, std::int64_t bytes, std::string_view type,
                     std::string_view operation) {
  Case asked = imported_case(program);
  asked.strategy.algorithm = kVendor;
  asked.strategy.compressor = kUncompressed;
  asked.collective.name = to_string(kind);
  asked.collective.bytes = bytes;
  asked.collective.data_type = type_name(type);
  asked.collective.operation = operation_name(operation);
  asked.collective.executor = program;
  return asked;
}

}  // namespace hbench
