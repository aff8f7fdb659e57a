#include "collectives/arithmetic/data_type.hpp"

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr DataTypeEntry kFloat32{"float32", "IEEE single precision", DataType::float32, 4};
constexpr DataTypeEntry kFloat64{"float64", "IEEE double precision", DataType::float64, 8};
constexpr DataTypeEntry kFloat16{"float16", "IEEE half precision, combined in float32", DataType::float16, 2};
constexpr DataTypeEntry kBfloat16{"bfloat16", "the upper half of a float32, combined in float32", DataType::bfloat16,
                                  2};
constexpr DataTypeEntry kInt32{"int32", "signed, wraps around", DataType::int32, 4};
constexpr DataTypeEntry kInt64{"int64", "signed, wraps around", DataType::int64, 8};
constexpr DataTypeEntry kUint8{"uint8", "unsigned, wraps around", DataType::uint8, 1};

constexpr std::array kDataTypes{&kFloat32, &kFloat64, &kFloat16, &kBfloat16, &kInt32, &kInt64, &kUint8};

constexpr ReduceOpEntry kSum{"sum", "all added", ReduceOp::sum};
constexpr ReduceOpEntry kAverage{"average", "all added, divided by the number of workers", ReduceOp::average};
constexpr ReduceOpEntry kMin{"min", "the smallest", ReduceOp::min};
constexpr ReduceOpEntry kMax{"max", "the largest", ReduceOp::max};
constexpr ReduceOpEntry kProduct{"product", "all multiplied", ReduceOp::product};

constexpr std::array kReduceOps{&kSum, &kAverage, &kMin, &kMax, &kProduct};

/// nccl-tests' names.
struct Alias {
  std::string_view alias;
  std::string_view name;
};
constexpr Alias kAliases[] = {{"float", "float32"}, {"double", "float64"}, {"half", "float16"}, {"prod", "product"},
                              {"avg", "average"},   {"fp32", "float32"},   {"fp64", "float64"}, {"fp16", "float16"},
                              {"bf16", "bfloat16"}, {"int", "int32"}};

std::string_view full_name(std::string_view text) {
  for (const auto& [alias, name] : kAliases)
    if (text == alias) return name;
  return text;
}

}  // namespace

std::span<const DataTypeEntry* const> data_types() { return kDataTypes; }
std::span<const ReduceOpEntry* const> reduce_ops() { return kReduceOps; }

const DataTypeEntry& entry_of(DataType type) { return *kDataTypes[static_cast<std::size_t>(type)]; }
const ReduceOpEntry& entry_of(ReduceOp op) { return *kReduceOps[static_cast<std::size_t>(op)]; }

DataType parse_data_type(std::string_view text) { return find_entry(data_types(), full_name(text), "data type").type; }
ReduceOp parse_reduce_op(std::string_view text) { return find_entry(reduce_ops(), full_name(text), "operation").op; }

}  // namespace hbench
