#include "analysis/catalogue/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::vector<std::string> lower_list(const std::string& text, std::string_view flag) {
  std::vector<std::string> items;
  if (!text.empty())
    for (const std::string& item : split_list(text, flag)) items.push_back(lower_case(item));
  return items;
}

/// `h100` means `h100-sxm` and `h100-pcie` too.
bool is_gpu(const Profile& profile, const std::string& name) {
  return profile.gpu == name || profile.gpu.starts_with(name + "-");
}

bool is_provider(const Profile& profile, const std::string& name) { return lower_case(profile.provider) == name; }

/// One condition of a filter.
struct Condition {
  std::string text;  ///< as a flag: `--gpu h100`
  std::function<bool(const Profile&)> met;
};

using IsNamed = bool (*)(const Profile&, const std::string&);

Condition one_of_names(std::string_view flag, const std::vector<std::string>& names, IsNamed is_named) {
  return {fmt::format("{} {}", flag, fmt::join(names, ",")), [names, is_named](const Profile& profile) {
            return std::ranges::any_of(names, [&](const std::string& name) { return is_named(profile, name); });
          }};
}

std::vector<Condition> conditions_of(const CatalogueFilter& filter) {
  std::vector<Condition> conditions;
  if (!filter.gpus.empty()) conditions.push_back(one_of_names("--gpu", filter.gpus, is_gpu));
  if (!filter.providers.empty()) conditions.push_back(one_of_names("--provider", filter.providers, is_provider));
  if (filter.max_price)
    conditions.push_back(
        {fmt::format("--max-price {}", format(*filter.max_price)), [most = *filter.max_price](const Profile& profile) {
           const auto price = price_per_gpu_hour(profile);
           return price && price->currency == most.currency && price->amount <= most.amount;
         }});
  if (filter.min_bandwidth.value > 0)
    conditions.push_back({fmt::format("--min-bandwidth {}", format(filter.min_bandwidth)),
                          [least = filter.min_bandwidth](const Profile& profile) {
                            const auto rate = network_per_gpu(profile);
                            return rate && *rate >= least;
                          }});
  return conditions;
}

/// Refuses a name that no profile has.
void check_names(const std::vector<Profile>& profiles, const std::vector<std::string>& names, std::string_view what,
                 IsNamed is_named, const std::string& (*name_of)(const Profile&)) {
  for (const std::string& name : names) {
    if (std::ranges::any_of(profiles, [&](const Profile& profile) { return is_named(profile, name); })) continue;
    std::set<std::string> known;
    for (const Profile& profile : profiles)
      if (!name_of(profile).empty()) known.insert(name_of(profile));
    throw unknown_name(what, name, std::vector<std::string_view>(known.begin(), known.end()));
  }
}

/// Says what a condition alone would leave out: for the hint where nothing meets all of them.
std::string without_each(const std::vector<Profile>& profiles, const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& left_out : conditions) {
    const auto count = std::ranges::count_if(profiles, [&](const Profile& profile) {
      return std::ranges::all_of(conditions,
                                 [&](const Condition& each) { return &each == &left_out || each.met(profile); });
    });
    text += fmt::format("{}without {}: {}", text.empty() ? "" : "; ", left_out.text, count);
  }
  return text;
}

/// The nearest price where only that is too low.
std::string cheapest(const std::vector<Profile>& profiles, CatalogueFilter filter) {
  if (!filter.max_price) return {};
  const std::string currency = filter.max_price->currency;
  filter.max_price.reset();
  const std::vector<Condition> others = conditions_of(filter);
  const Profile* best = nullptr;
  for (const Profile& profile : profiles) {
    const auto price = price_per_gpu_hour(profile);
    if (!price || price->currency != currency) continue;
    if (!std::ranges::all_of(others, [&](const Condition& each) { return each.met(profile); })) continue;
    if (best == nullptr || price->amount < price_per_gpu_hour(*best)->amount) best = &profile;
  }
  if (best == nullptr) return fmt::format("; no price in {} is known for the rest", currency);
  return fmt::format("; the cheapest of the rest is {}, {} for a GPU-hour", best->name,
                     format(*price_per_gpu_hour(*best)));
}

}  // namespace

std::optional<Money> price_per_gpu_hour(const Profile& profile) {
  if (!profile.price) return std::nullopt;
  Money share = profile.price->per_node_hour;
  share.amount /= profile.gpus_per_node;
  return share;
}

std::optional<std::chrono::days> age_of(const Price& price, std::chrono::sys_days today) {
  const auto day = first_day(price.retrieved);
  return day ? std::optional(today - *day) : std::nullopt;
}

std::optional<BytesPerSecond> network_per_gpu(const Profile& profile) {
  if (profile.most_nodes == 1) return std::nullopt;
  return profile.node_rate() / profile.gpus_per_node;
}

std::string assumed_sections(const Profile& profile) {
  std::set<std::string> sections;
  for (const Figure& figure : profile.assumed()) {
    const std::size_t dot = figure.key.find('.');
    sections.insert(dot == std::string::npos ? "node" : figure.key.substr(0, dot));
  }
  return fmt::format("{}", fmt::join(sections, ", "));
}

CatalogueFilter parse_catalogue_filter(const CatalogueTexts& texts) {
  CatalogueFilter filter{.gpus = lower_list(texts.gpu, "--gpu"), .providers = lower_list(texts.provider, "--provider")};
  if (!texts.max_price.empty()) {
    filter.max_price = parse_money(texts.max_price);
    if (!filter.max_price)
      throw Error(ExitCode::usage, fmt::format("--max-price {} is no price", texts.max_price),
                  "write such as 5usd: what one GPU may cost for an hour, and the three letters of a currency");
  }
  if (!texts.min_bandwidth.empty()) {
    try {
      filter.min_bandwidth = parse_rate(texts.min_bandwidth);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--min-bandwidth: {}", error.what()), error.hint());
    }
    if (!(filter.min_bandwidth.value > 0))
      throw Error(ExitCode::usage, fmt::format("--min-bandwidth {} is no bandwidth", texts.min_bandwidth),
                  "write such as 100Gbit/s: a GPU's share of its node's NICs");
  }
  return filter;
}

std::vector<Profile> all_profiles(const ProfileLibrary& library) {
  std::vector<Profile> profiles;
  for (const std::string& name : library.names()) profiles.push_back(library.load(name));
  return profiles;
}

std::vector<Profile> matching_profiles(const std::vector<Profile>& profiles, const CatalogueFilter& filter) {
  check_names(profiles, filter.gpus, "GPU", is_gpu,
              [](const Profile& profile) -> const std::string& { return profile.gpu; });
  check_names(profiles, filter.providers, "provider", is_provider,
              [](const Profile& profile) -> const std::string& { return profile.provider; });
  const std::vector<Condition> conditions = conditions_of(filter);
  std::vector<Profile> matching;
  std::ranges::copy_if(profiles, std::back_inserter(matching), [&](const Profile& profile) {
    return std::ranges::all_of(conditions, [&](const Condition& each) { return each.met(profile); });
  });
  if (!matching.empty()) return matching;
  std::vector<std::string> texts;
  for (const Condition& condition : conditions) texts.push_back(condition.text);
  throw Error(ExitCode::usage, fmt::format("no profile meets {}", fmt::join(texts, " and ")),
              fmt::format("profiles left {}{}", without_each(profiles, conditions), cheapest(profiles, filter)));
}

}  // namespace hbench
