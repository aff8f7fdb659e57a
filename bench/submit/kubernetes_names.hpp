#pragma once

/// What Kubernetes accepts as names and quantities. Pure functions.

#include <optional>
#include <string_view>

namespace hbench {

/// At most 63 lower-case letters, digits and dashes, a letter or digit at both ends (a label of RFC 1123): namespaces.
bool is_kubernetes_label(std::string_view text);
/// The same, with a letter in front (a label of RFC 1035): services and what is named after them, such as an MPIJob.
bool is_kubernetes_service(std::string_view text);
/// At most 253 characters, labels of RFC 1123 with dots between them: claims, classes, secrets.
bool is_kubernetes_subdomain(std::string_view text);
/// The value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends.
bool is_kubernetes_value(std::string_view text);
/// The key of a label or, where `prefixed`, the name of a resource that a device plugin offers: `nvidia.com/gpu`.
bool is_kubernetes_key(std::string_view text, bool prefixed);
/// What a quantity such as `500m`, `16Gi` or `1e9` stands for; nothing where it is none, or not above 0.
std::optional<double> kubernetes_quantity(std::string_view text);

}  // namespace hbench
