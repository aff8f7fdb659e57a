#include "collectives/network/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

// Beyond these, virtual time would lose its microseconds.
constexpr BytesPerSecond kLeastRate(125);
constexpr Seconds kMostLatency(60);
/// Of a collective on GPUs: the median of 14 public curves (`accuracy.md`), of 0 to 45 us.
constexpr Seconds kUsualCall(20e-6);

using Apply = std::function<void(std::string_view, std::optional<double>)>;

Apply text_into(std::string& out) {
  return [&out](std::string_view text, std::optional<double> number) { out = text_alone(text, number); };
}

Apply number_into(double& out, double least, double most) {
  return [&out, least, most](std::string_view text, std::optional<double> number) {
    if (!number)
      throw Error(ExitCode::usage, fmt::format("'{}' is not a number", text), "write a plain number without quotes");
    if (!(*number >= least && *number <= most))
      throw Error(ExitCode::usage, fmt::format("{} is out of range", text),
                  fmt::format("it must lie between {} and {}", least, most));
    out = *number;
  };
}

Apply count_into(int& out) {
  return [&out](std::string_view text, std::optional<double> number) {
    if (!number || *number != std::floor(*number) || *number < 1 || *number > 1e6)
      throw Error(ExitCode::usage, fmt::format("{} is not a count", text), "write a whole number of at least 1");
    out = static_cast<int>(*number);
  };
}

FigureKey flag_key(std::string_view name, bool& out) {
  return {name, false, [&out](std::string_view text, std::optional<double>) { out = text == "true"; }, true};
}

template <class Q>
void require_unit(std::string_view text, std::optional<double> number, Q (*parse)(std::string_view), Q& out) {
  if (number)
    throw Error(ExitCode::usage, fmt::format("{} has no unit", text),
                "write it as text, such as \"25 Gbit/s\" or \"15 us\"");
  out = parse(text);
}

Apply rate_into(BytesPerSecond& out) {
  return [&out](std::string_view text, std::optional<double> number) {
    require_unit(text, number, parse_rate, out);
    if (out < kLeastRate)
      throw Error(ExitCode::usage, fmt::format("{} is no bandwidth", text), "it must be at least 1 kbit/s");
  };
}

Apply memory_into(Bytes& out) {
  return [&out](std::string_view text, std::optional<double> number) {
    require_unit(text, number, parse_bytes, out);
    if (out.value < 1e6 || out.value > 1e15)
      throw Error(ExitCode::usage, fmt::format("{} is no memory of a GPU", text), "write it such as \"80 GB\"");
  };
}

Apply latency_into(Seconds& out) {
  return [&out](std::string_view text, std::optional<double> number) {
    require_unit(text, number, parse_seconds, out);
    if (out.value < 0 || out > kMostLatency)
      throw Error(ExitCode::usage, fmt::format("{} is no latency", text), "it must lie between 0 and 1 minute");
  };
}

/// FLOP/s, as `312 TFLOP/s`.
Apply peak_into(double& out) {
  return [&out](std::string_view text, std::optional<double> number) {
    constexpr std::array<Unit, 3> kUnits{{{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}};
    out = number ? 0 : parse_amount(text, kUnits).value_or(0);
    if (!(out >= 1e9 && out <= 1e18))
      throw Error(ExitCode::usage, fmt::format("{} is no peak of a GPU", text), "write it such as \"312 TFLOP/s\"");
  };
}

/// Keys of the rates among 2, 3 ... GPUs. More GPUs of a node than these are on a switch, and alike.
constexpr std::array<std::string_view, 15> kLocalRates{"rate_2",  "rate_3",  "rate_4",  "rate_5",  "rate_6",
                                                       "rate_7",  "rate_8",  "rate_9",  "rate_10", "rate_11",
                                                       "rate_12", "rate_13", "rate_14", "rate_15", "rate_16"};
std::string_view local_rate_key(int gpus) { return kLocalRates[static_cast<std::size_t>(gpus - 2)]; }

/// Returns the factor that is stated of `gpus` GPUs of a domain, with its number; null where `local_rate` is theirs.
const std::pair<const int, double>* factor_of_fewer(const Profile& profile, int gpus) {
  const auto stated = profile.local_factors.lower_bound(gpus);
  return gpus >= profile.gpus_per_domain() || stated == profile.local_factors.end() ? nullptr : &*stated;
}

/// A factor that widens the band of a rate does nothing where the rate is not stated.
void require_rate_of(const TomlReader& read, const toml::table& table, std::string_view section,
                     std::string_view factor, std::string_view rate) {
  const auto figures = table[section];
  if (!figures[factor] || figures[rate]) return;
  read.fail(*figures[factor].node(), fmt::format("{}.{} is given without {}.{}", section, factor, section, rate),
            fmt::format("state '{}', of which it is the factor, or leave it out", rate));
}

/// `gpus/<name>.toml`: memory rate and samples/s of one GPU.
void read_gpu(const std::filesystem::path& gpus, Profile& profile) {
  // A name of a folder is none of a GPU, and one without a file is described by the cluster's own file alone.
  if (profile.gpu.find('/') != std::string::npos) return;
  std::error_code absent;
  const auto file_of = [&](const std::string& gpu) { return gpus / (gpu + ".toml"); };
  if (!std::filesystem::is_regular_file(file_of(profile.gpu), absent)) {
    std::string joined = profile.gpu;  // `rtx-5090` is `rtx5090`
    std::erase(joined, '-');
    if (!std::filesystem::is_regular_file(file_of(joined), absent)) return;
    profile.gpu = joined;
  }
  const std::filesystem::path file = file_of(profile.gpu);
  const std::string text = read_file(file);
  const std::string name = "gpus/" + file.filename().string();
  const toml::table table = parse_toml(text, name);
  const TomlReader read(name);
  std::vector<Figure> figures;
  read_section(read, table, "",
               {{"title", false, text_into(profile.gpu_title)},
                {"family", false, text_into(profile.gpu_family)},
                {"memory_rate", true, rate_into(profile.memory_rate)},
                {"link_rate", false, rate_into(profile.gpu_link_rate)},
                {"bus_rate", false, rate_into(profile.gpu_bus_rate)},
                flag_key("peer_access", profile.peer_access),
                {"memory", false, memory_into(profile.gpu_memory)},
                {"float32_peak", false, peak_into(profile.peaks.float32)},
                {"tf32_peak", false, peak_into(profile.peaks.tf32)},
                {"fp16_peak", false, peak_into(profile.peaks.fp16)},
                {"bf16_peak", false, peak_into(profile.peaks.bf16)}},
               {"rates"}, figures);
  for (Figure& figure : figures) {
    figure.key = "gpu." + figure.key;
    profile.figures.push_back(std::move(figure));
  }
  read_rates(read, table, profile);
  profile.digest = digest_text(text);
}

/// `[local]`: links inside a domain.
void read_local(const TomlReader& read, const toml::table& table, Profile& profile) {
  const bool linked = profile.gpus_per_domain() > 1;
  std::vector<FigureKey> keys{{"latency", linked, latency_into(profile.local_latency)},
                              {"low_latency", false, latency_into(profile.local_low_latency)},
                              {"rate", linked, rate_into(profile.local_rate)},
                              flag_key("peer_access", profile.peer_access),
                              {"switch_reduction", false, number_into(profile.switch_reduction, 0.1, 1)}};
  std::map<int, BytesPerSecond> fewer;
  const int most = std::min(profile.gpus_per_domain() - 1, static_cast<int>(kLocalRates.size()) + 1);
  for (int count = 2; count <= most; ++count) keys.push_back({local_rate_key(count), false, rate_into(fewer[count])});
  read_section(read, table, "local", keys, {}, profile.figures);
  if (!profile.peer_access) profile.local_rate = profile.local_rate * kThroughHost;
  for (const auto& [count, rate] : fewer)
    if (rate.value > 0) profile.local_factors[count] = rate / profile.local_rate;
}

/// `[network]`: between domains.
void read_network(const TomlReader& read, const toml::table& table, Profile& profile) {
  read_section(read, table, "network",
               {{"latency", true, latency_into(profile.network_latency)},
                {"low_latency", false, latency_into(profile.network_low_latency)},
                {"line_rate", true, rate_into(profile.line_rate)},
                {"nics", false, count_into(profile.nics)},
                {"stream_cap", false, rate_into(profile.stream_cap)},
                {"stream_factor", false, number_into(profile.stream_factor, 1, 100)},
                {"streams", false, count_into(profile.streams)},
                {"protocol_efficiency", false, number_into(profile.protocol_efficiency, 0.01, 1)},
                {"tree_rate", false, rate_into(profile.tree_rate)}},
               {}, profile.figures);
  require_rate_of(read, table, "network", "stream_factor", "stream_cap");
  const auto figures = table["network"];
  const auto assume = [&](std::string_view key, std::string text, double factor) {
    profile.figures.push_back({fmt::format("network.{}", key), std::move(text),
                               "what TCP carries where nobody says more than the line's rate", factor, ""});
  };
  // Who knows what the protocol leaves knows this network: nothing is taken for it.
  if (figures["protocol_efficiency"] || !profile.is_tcp()) return;
  profile.protocol_efficiency = kTcpShare;
  assume("protocol_efficiency", fmt::format("{}", kTcpShare), kTcpShareFactor);
  const BytesPerSecond streams = kTcpStreams / kTcpShare;  // before what the protocol takes
  if (figures["stream_cap"] || profile.line_rate <= streams) return;
  profile.stream_cap = streams;
  assume("stream_cap", format(streams), kTcpStreamsFactor);
}

}  // namespace

double GpuPeaks::at(std::string_view precision) const {
  return precision == "float32" ? float32 : precision == "tf32" ? tf32 : precision == "fp16" ? fp16 : bf16;
}

BytesPerSecond Profile::node_rate(int nodes) const { return line_rate * (nics * nodes) * protocol_efficiency; }

BytesPerSecond Profile::path_rate(int nodes) const {
  BytesPerSecond rate = line_rate * (nics * nodes);
  if (stream_cap.value > 0) rate = std::min(rate, stream_cap * streams);
  return rate * protocol_efficiency;
}

BytesPerSecond Profile::local_rate_of(int gpus) const {
  const auto* stated = factor_of_fewer(*this, gpus);
  if (stated == nullptr) return local_rate;
  const BytesPerSecond rate = local_rate * stated->second;
  return gpu_link_rate.value > 0 ? std::min(rate, std::max(local_rate, gpu_link_rate)) : rate;
}

void Profile::scale_full_local(double factor) {
  local_rate = local_rate * factor;
  for (auto& [gpus, times] : local_factors) times /= factor;
}

Profile Profile::delayed(double factor) const {
  Profile late = *this;
  for (Seconds Profile::*latency :
       {&Profile::local_latency, &Profile::local_low_latency, &Profile::network_latency, &Profile::network_low_latency})
    late.*latency = late.*latency * factor;
  return late;
}

std::optional<CodingRate> Profile::coding_rate(std::string_view compressor) const {
  const auto known = coding.find(compressor);
  return known == coding.end() ? std::nullopt : std::optional(known->second.rate);
}

Profile Profile::slowed(double factor) const {
  Profile slow = delayed(factor);
  for (BytesPerSecond Profile::*rate :
       {&Profile::local_rate, &Profile::line_rate, &Profile::stream_cap, &Profile::tree_rate, &Profile::server_rate})
    slow.*rate = slow.*rate / factor;
  return slow;
}

std::vector<Figure> Profile::assumed() const {
  std::vector<Figure> assumed;
  std::ranges::copy_if(figures, std::back_inserter(assumed), [](const Figure& figure) { return figure.assumed > 1; });
  return assumed;
}

std::vector<Figure> Profile::assumed_for(int gpus) const {
  std::vector<Figure> counting = assumed();
  const auto* fewer = factor_of_fewer(*this, gpus);
  const std::string rate = fewer == nullptr ? "local.rate" : fmt::format("local.{}", local_rate_key(fewer->first));
  std::erase_if(counting, [&](const Figure& figure) {
    return (figure.key.starts_with("network.") && domains_of(gpus) == 1) ||
           (figure.key.starts_with("local.") && gpus == 1) ||
           (figure.key.starts_with("local.rate") && figure.key != rate);
  });
  return counting;
}

Profile Profile::at(End end) const {
  if (end == End::stated) return *this;
  const auto moved = [end](double factor) { return end == End::better ? factor : 1 / factor; };
  // A product of figures is as far off as the one that is known least.
  const auto assumed = [this](std::initializer_list<std::string_view> keys) {
    double most = 1;
    for (const Figure& figure : figures)
      if (std::ranges::find(keys, figure.key) != keys.end()) most = std::max(most, figure.assumed);
    return most;
  };
  Profile other = *this;
  other.stream_cap =
      stream_cap * moved(stream_factor > 1 ? stream_factor : assumed({"network.stream_cap", "network.streams"}));
  other.server_rate = server_rate * moved(server_factor > 1 ? server_factor : assumed({"parameter_server.rate"}));
  other.line_rate = line_rate * moved(assumed({"network.line_rate", "network.nics", "network.protocol_efficiency"}));
  other.tree_rate = tree_rate * moved(assumed({"network.tree_rate"}));
  const double host = end == End::better ? kThroughHostBetter : kThroughHostWorse;
  const double links = assumed({"local.rate"}), local = std::max(links, peer_access ? 1 : host);
  other.local_rate = local_rate * moved(local);
  // Their own links do not pass the host.
  for (auto& [gpus, times] : other.local_factors)
    times *= moved(std::max(links, assumed({fmt::format("local.{}", local_rate_key(gpus))})) / local);
  // Nothing is assumed that this GPU cannot do.
  const BytesPerSecond most = std::max({local_rate, gpu_link_rate, gpu_bus_rate});
  if (most > local_rate) other.local_rate = std::min(other.local_rate, most);
  // Nodes may have fewer GPUs than is assumed, so that what is taken for a node's own links is its network.
  if (end == End::worse && assumed({"gpus_per_node"}) > 1)
    other.local_rate = std::min(other.local_rate, other.node_rate());
  other.network_latency = network_latency / moved(assumed({"network.latency"}));
  other.network_low_latency = network_low_latency / moved(assumed({"network.low_latency"}));
  other.local_latency = local_latency / moved(assumed({"local.latency"}));
  other.local_low_latency = local_low_latency / moved(assumed({"local.low_latency"}));
  return other;
}

Profile parse_profile(std::string_view text, std::string_view file_name, const std::filesystem::path& gpus) {
  const toml::table table = parse_toml(text, file_name);
  const TomlReader read(file_name);
  Profile profile;
  profile.name = std::filesystem::path(file_name).stem().string();
  profile.title = profile.name;
  profile.call_latency = kUsualCall;
  read_section(
      read, table, "",
      {{"title", false, text_into(profile.title)},
       {"provider", false, text_into(profile.provider)},
       {"instance_type", false, text_into(profile.instance_type)},
       {"gpu", false, text_into(profile.gpu)},
       {"gpus_per_node", true, count_into(profile.gpus_per_node)},
       {"nodes_per_domain", false, count_into(profile.nodes_per_domain)},
       {"most_nodes", false, count_into(profile.most_nodes)}},
      {"local", "network", "parameter_server", "compute", "prediction", "price", "rates", "coding", "collectives"},
      profile.figures);
  if (!profile.gpu.empty()) read_gpu(gpus, profile);
  read_local(read, table, profile);
  read_network(read, table, profile);
  read_section(
      read, table, "parameter_server",
      {{"rate", false, rate_into(profile.server_rate)}, {"factor", false, number_into(profile.server_factor, 1, 100)}},
      {}, profile.figures);
  require_rate_of(read, table, "parameter_server", "factor", "rate");
  read_section(read, table, "compute",
               {{"call_latency", false, latency_into(profile.call_latency)},
                {"memory_rate", false, rate_into(profile.memory_rate)},
                {"overlap_slowdown", false, number_into(profile.overlap_slowdown, 0, 10)},
                {"straggler", false, number_into(profile.straggler, 0, 1)}},
               {}, profile.figures);
  read_section(read, table, "prediction", {{"uncertainty", false, number_into(profile.uncertainty, 0, 0.9)}}, {},
               profile.figures);
  profile.price = read_price(read, table, profile.figures);
  read_rates(read, table, profile);
  profile.coding = read_coding(read, table);
  profile.curves = read_curves(table, file_name);
  profile.digest = digest_text(fmt::format("{}{}", profile.digest, text));
  return profile;
}

Profile ProfileLibrary::load(std::string_view name_or_file) const {
  const NamedText file = files_.read(name_or_file);
  return parse_profile(file.text, file.file_name, files_.folder() / "gpus");
}

Profile ProfileLibrary::gpu(const std::string& name) const {
  Profile gpu;
  gpu.gpu = name;
  read_gpu(files_.folder() / "gpus", gpu);
  return gpu;
}

std::vector<Profile> ProfileLibrary::gpus() const {
  const std::filesystem::path folder = files_.folder() / "gpus";
  std::vector<Profile> gpus;
  std::error_code absent;
  if (!std::filesystem::is_directory(folder, absent)) return gpus;
  const TomlLibrary library(folder, "GPU");
  for (const std::string& name : library.names()) gpus.push_back(gpu(name));
  return gpus;
}

}  // namespace hbench
