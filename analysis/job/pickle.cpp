#include "analysis/job/pickle.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/job/pickle_bytes.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;
using Index = std::uint32_t;

constexpr int kMostDepth = 64;
/// The bytes that a value takes in a map of JSON or of the memory, beside its text.
constexpr std::size_t kEntryBytes = 96;
constexpr Index kMark = UINT32_MAX;

/// A value of the pickle. Containers hold the places of their values, since one value may stand in several and is often
/// filled only after it was put there.
struct Value {
  enum class Kind : std::uint8_t { scalar, list, dictionary };
  Kind kind = Kind::scalar;
  Json scalar;
  std::vector<Index> items;  ///< of a dictionary: keys and values in turn
};

/// The machine that a pickle is a program for, without the instructions that build objects.
class PickleMachine {
 public:
  PickleMachine(TextSource& source, std::string_view unwanted) : source_(source), bytes_(source), unwanted_(unwanted) {}

  Json run() {
    for (;;) {
      const int code = bytes_.byte();
      if (code == '.') return written(pop(), 0);
      if (!stack_or_memory(code) && !scalar(code) && !container(code)) refuse(code);
    }
  }

 private:
  using Kind = Value::Kind;

  bool stack_or_memory(int code) {
    switch (code) {
      case 0x80:
        return bytes_.number(1), true;  // the protocol
      case 0x95:
        return bytes_.number(8), true;  // a frame: the size of what follows
      case '(':
        return push(kMark), true;
      case '0':
        return pop(), true;
      case '1':
        return after_mark(), true;
      case '2':
        return push(top()), true;
      case 'p':
        return keep(bytes_.line_number()), true;
      case 'q':
        return keep(bytes_.number(1)), true;
      case 'r':
        return keep(bytes_.number(4)), true;
      case 0x94:
        return keep(memory_.size()), true;
      case 'g':
        return recall(bytes_.line_number()), true;
      case 'h':
        return recall(bytes_.number(1)), true;
      case 'j':
        return recall(bytes_.number(4)), true;
      default:
        return false;
    }
  }

  bool scalar(int code) {
    std::optional<Json> value = bytes_.scalar(code);
    if (!value) return false;
    source_.keeps(text_bytes(*value));
    add(Kind::scalar, {});
    values_.back().scalar = *std::move(value);
    return true;
  }

  bool container(int code) {
    switch (code) {
      case ']':
      case ')':
        return add(Kind::list, {}), true;
      case '}':
        return add(Kind::dictionary, {}), true;
      case 'l':
      case 't':
        return add(Kind::list, after_mark()), true;
      case 'd':
        return add(Kind::dictionary, pairs(after_mark())), true;
      case 0x85:
      case 0x86:
      case 0x87:
        return add(Kind::list, last(static_cast<std::size_t>(code - 0x84))), true;
      case 'a':
        return extend(Kind::list, last(1)), true;
      case 'e':
        return extend(Kind::list, after_mark()), true;
      case 's':
        return extend(Kind::dictionary, last(2)), true;
      case 'u':
        return extend(Kind::dictionary, pairs(after_mark())), true;
      default:
        return false;
    }
  }

  [[noreturn]] void refuse(int code) const {
    static constexpr std::string_view kBuilding = "cRibo\x81\x92\x93\x82\x83\x84PQ";
    bytes_.fail(kBuilding.find(static_cast<char>(code)) != kBuilding.npos
                    ? "it would build objects or call functions of Python, which is not done here"
                    : "this is no instruction of a pickle of plain data");
  }

  void add(Kind kind, std::vector<Index> items) {
    source_.keeps(sizeof(Value));
    push(static_cast<Index>(values_.size()));
    values_.push_back({kind, nullptr, std::move(items)});
  }

  /// Containers may take what is on the stack.
  void push(Index index) { source_.keep(stack_, index, sizeof(Index)); }

  /// The bytes that a text takes beside its value.
  static std::size_t text_bytes(const Json& value) {
    return value.is_string() ? sizeof(std::string) + value.get_ref<const std::string&>().capacity() : 0;
  }

  Index top() const {
    if (stack_.empty() || stack_.back() == kMark) bytes_.fail("it takes a value from where none is");
    return stack_.back();
  }

  Index pop() {
    const Index index = top();
    stack_.pop_back();
    return index;
  }

  std::vector<Index> last(std::size_t count) {
    std::vector<Index> items(count);
    for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
    return items;
  }

  std::vector<Index> after_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) bytes_.fail("a mark is missing");
    std::vector<Index> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }

  std::vector<Index> pairs(std::vector<Index> items) const {
    if (items.size() % 2 != 0) bytes_.fail("a key has no value");
    return items;
  }

  void extend(Kind kind, const std::vector<Index>& items) {
    Value& container = values_[top()];
    if (container.kind != kind) bytes_.fail("it adds to what is no such container");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  void keep(std::uint64_t name) {
    source_.keeps(kEntryBytes);
    memory_[name] = top();
  }

  void recall(std::uint64_t name) {
    const auto kept = memory_.find(name);
    if (kept == memory_.end()) bytes_.fail("it recalls what it has not kept");
    push(kept->second);
  }

  /// The value as JSON: what is shared is written out wherever it stands.
  Json written(Index index, int depth) {
    if (depth > kMostDepth) bytes_.fail("it is nested more than 64 deep");
    const Value& value = values_[index];
    source_.keeps(kEntryBytes + text_bytes(value.scalar));
    if (value.kind == Kind::scalar) return value.scalar;
    if (value.kind == Kind::dictionary) return dictionary(value, depth);
    Json list = Json::array();
    for (const Index item : value.items) list.push_back(written(item, depth + 1));
    return list;
  }

  Json dictionary(const Value& value, int depth) {
    Json object = Json::object();
    for (std::size_t i = 0; i < value.items.size(); i += 2) {
      const Json& key = values_[value.items[i]].scalar;
      if (!key.is_string() && !key.is_number_integer()) bytes_.fail("a key is neither a text nor a whole number");
      std::string name = key.is_string() ? key.get<std::string>() : key.dump();
      if (name != unwanted_) object[std::move(name)] = written(value.items[i + 1], depth + 1);
    }
    return object;
  }

  TextSource& source_;
  PickleBytes bytes_;
  std::string_view unwanted_;
  std::deque<Value> values_;  // many, and never copied to grow
  std::vector<Index> stack_;
  std::unordered_map<std::uint64_t, Index> memory_;
};

}  // namespace

nlohmann::json read_pickle(TextSource& source, std::string_view unwanted) {
  return PickleMachine(source, unwanted).run();
}

bool looks_like_pickle(std::string_view head) {
  if (head.size() > 2 && head[0] == '\x80') return head[1] >= 2 && head[1] <= 5;
  // Protocols 0 and 1 begin with their value: a dictionary or a list.
  return head.starts_with("(d") || head.starts_with("(l") || head.starts_with('}') || head.starts_with(']');
}

}  // namespace hbench
