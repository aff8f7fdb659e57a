#include "workloads/engine/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "collectives/base/error.hpp"
#include "workloads/engine/mail.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {
namespace {

struct Row {
  std::int64_t parameter;
  std::int64_t elements;
};

constexpr std::string_view kSharing = "sharing the order of gradients";

std::vector<Row> rows_of(const GradientLayout& layout) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < layout.elements.size(); ++i) rows.push_back({layout.parameters[i], layout.elements[i]});
  return rows;
}

void send_layout(const GradientLayout& layout, Transport& transport, Seconds timeout) {
  Outbox outbox(transport);
  const std::vector<Row> rows = rows_of(layout);
  for (Rank rank = 1; rank < transport.size(); ++rank) {
    outbox.send(rank, kLayoutTag, static_cast<std::int64_t>(rows.size()));
    outbox.send(rank, kLayoutTag, std::as_bytes(std::span(rows)));
  }
  flush(outbox, timeout, kSharing);
}

GradientLayout receive_layout(Transport& transport, Seconds timeout) {
  std::int64_t count = 0;
  receive_now(transport, 0, kLayoutTag, as_message(count), timeout, kSharing);
  std::vector<Row> rows(static_cast<std::size_t>(count));
  receive_now(transport, 0, kLayoutTag, std::as_writable_bytes(std::span(rows)), timeout, kSharing);
  GradientLayout layout;
  for (const Row& row : rows) {
    layout.parameters.push_back(static_cast<int>(row.parameter));
    layout.elements.push_back(row.elements);
  }
  return layout;
}

/// The same tensors, in whatever order.
bool same_tensors(const GradientLayout& a, const GradientLayout& b) {
  const auto sorted = [](const GradientLayout& layout) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const Row& row : rows_of(layout)) pairs.emplace_back(row.parameter, row.elements);
    std::ranges::sort(pairs);
    return pairs;
  };
  return sorted(a) == sorted(b);
}

}  // namespace

std::int64_t GradientLayout::total() const {
  return std::accumulate(elements.begin(), elements.end(), std::int64_t{0});
}

std::vector<std::int64_t> GradientLayout::offsets() const {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t count : elements) offsets.push_back(offsets.back() + count);
  return offsets;
}

std::vector<std::int64_t> GradientLayout::bytes() const {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t count : elements) bytes.push_back(count * static_cast<std::int64_t>(sizeof(float)));
  return bytes;
}

GradientLayout share_layout(const GradientLayout* own, Transport& transport, Seconds timeout) {
  if (transport.rank() == 0) {
    send_layout(*own, transport, timeout);
    return *own;
  }
  GradientLayout layout = receive_layout(transport, timeout);
  if (own != nullptr && !same_tensors(*own, layout)) {
    throw Error(ExitCode::wrong_data,
                fmt::format("rank {} trains a model with other tensors than rank 0", transport.rank()),
                "start every rank with the same arguments and the same build");
  }
  return layout;
}

bool contiguous(const Bucket& bucket) {
  return std::ranges::adjacent_find(bucket.tensors, [](int a, int b) { return b != a + 1; }) == bucket.tensors.end();
}

std::vector<ElementRange> ranges_of(const Bucket& bucket, std::span<const std::int64_t> offsets) {
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(float));
  std::vector<ElementRange> ranges;
  for (const int tensor : bucket.tensors) {
    const auto i = static_cast<std::size_t>(tensor);
    ElementRange next{offsets[i], offsets[i + 1]};
    if (!bucket.whole()) next = {offsets[i] + bucket.begin / kNumber, offsets[i] + bucket.end / kNumber};
    if (!ranges.empty() && ranges.back().end == next.begin)
      ranges.back().end = next.end;
    else
      ranges.push_back(next);
  }
  return ranges;
}

}  // namespace hbench
