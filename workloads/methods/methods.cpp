#include <array>

#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

extern const Method kSynchronous;
extern const Method kZero;
extern const Method kFsdp;
extern const Method kFsdpKeeping;
extern const Method kHsdp;
extern const Method kLocalSgd;
extern const Method kPostLocalSgd;
extern const Method kDiloco;
extern const Method kAsyncServers;
extern const Method kStaleServers;
extern const Method kDecentralized;
extern const Method kGossip;

std::span<const Method* const> methods() {
  static constexpr std::array kTable{&kSynchronous,  &kZero,         &kFsdp,          &kFsdpKeeping,
                                     &kHsdp,         &kLocalSgd,     &kPostLocalSgd,  &kDiloco,
                                     &kAsyncServers, &kStaleServers, &kDecentralized, &kGossip};
  return kTable;
}

std::string MethodChoice::text() const { return text_with_numbers(method->name, method->fields, values, 1); }

bool MethodChoice::is_synchronous() const { return method == &kSynchronous; }

MethodChoice parse_method(std::string_view text) {
  if (text == "zero:3") text = kFsdp.name;  // what DeepSpeed calls it
  const Method& method = find_entry(methods(), split(text, ':').front(), "method");
  return {.method = &method, .values = parse_numbers(text, method.name, method.fields)};
}

}  // namespace hbench
