#pragma once

/// A cluster as the simulator sees it: nodes, GPUs, links, price, and where each figure comes from.
///
/// Read from TOML, one file per cluster (see `cluster-profiles/README.md` for every key). Immutable once
/// read: share it freely between threads.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/library.hpp"
#include "collectives/base/units.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/network/curve.hpp"
#include "collectives/network/price.hpp"

namespace hbench {

/// Training speed of one GPU of the cluster, without communication.
struct GpuRate {
  double samples_per_second = 0;
  int batch = 0;  ///< samples per step at which it was measured; the default batch per GPU
  std::string source;
  /// The factor by which it may be higher or lower: 1 where it was measured on the very machine.
  double factor = 1;
  std::map<int, double> others = {};  ///< samples/s at other batches, by batch
  std::string precision = {};         ///< `float32`, `tf32`, `fp16`, `bf16`; empty: not stated
  /// With what it was measured, where that is unlike what the rates of this workload stand for: such a rate only tells
  /// how GPUs compare. Empty: the rate may be used.
  std::string software = {};
  std::string unlike = {};  ///< why it does not tell how GPUs compare: `bound by the host`; empty: it does
  /// Samples/s that all GPUs of one full node make together, 0: not known. It has input, PCIe and the framework in it.
  double node = 0;
  bool modelled = false;  ///< nobody measured it: from FLOPs, peaks and what others measured
};
using GpuRates = std::map<std::string, std::vector<GpuRate>, std::less<>>;

/// FLOP/s of matrix products at best, without sparsity; 0: not known, or the GPU does not have it.
struct GpuPeaks {
  double float32 = 0, tf32 = 0, fp16 = 0, bf16 = 0;

  /// By the name of a precision.
  double at(std::string_view precision) const;
};
/// Of a rate that does not say: another driver, framework or input on the same GPU. Published rates of ResNet-50 in
/// single precision on a V100 are 355 to 390 samples/s.
inline constexpr double kUsualRateFactor = 1.1;

/// What a PCIe bus carries at most (5.0 x16, one direction, as NCCL reaches it); faster links are switched.
inline constexpr BytesPerSecond kFastestBus(45e9);

/// The share of their links' rate that GPUs without access to each other's memory reach, in a ring, and the factors by
/// which it may be higher and lower: 12 of 24 GB/s between two A100 (PCIe), 30 of 56 between two RTX 5090 (both ways,
/// beside a driver that gives them access), 35 and 28 of 50 among 4 and 8 of these. The path through a host depends on
/// its board: two RTX 3090 train as with 5 to 6 of 22 GB/s (github.com/huggingface/transformers, issue 9371) and as
/// with 4, of which 8 of them get a fifth each (github.com/LambdaColdStorage/lambda-tensorflow-benchmark).
inline constexpr double kThroughHost = 0.57, kThroughHostBetter = 1.3, kThroughHostWorse = 3.5;

/// Messages that take longer go by TCP, where nothing else is known: 15 to 17 us for each step of a ring over 10 GbE
/// (github.com/HKBU-HPML/ddl-benchmarks, unfused all-reduces), where NCCL has 14 by RDMA (2.30, src/graph/tuning.cc).
inline constexpr Seconds kLongestByRdma(14.5e-6);

/// What TCP carries out of a node where nobody says more than the line's rate: min(`kTcpShare` of the line,
/// `kTcpStreams`), each within its factor. Slow lines are nearly filled (56 to 95 %), fast ones are not: 10 to 38
/// Gbit/s of 25 to 100, and 1.8 to 5 where people ask why two nodes are slower than one. `accuracy.md` has the 15
/// sources, each of which was left out in turn.
inline constexpr double kTcpShare = 0.8, kTcpShareFactor = 1.25;
inline constexpr BytesPerSecond kTcpStreams(1.875e9);
inline constexpr double kTcpStreamsFactor = 6;

/// Where figures are taken that are known within a factor only.
enum class End : std::uint8_t { better, stated, worse };

/// What the implementation of a compressor was measured to take.
struct StatedCoding {
  CodingRate rate;
  std::string source;
};

/// See the top of the file. All rates are per direction; links are full duplex.
struct Profile {
  std::string name;
  std::string title;
  std::string provider;  ///< who rents or makes it, `AWS`; may be empty
  /// The provider's own name of a node, as lists of prices have it: `p5.48xlarge`; may be empty.
  std::string instance_type;
  std::string gpu;
  std::string gpu_title;  ///< `NVIDIA V100 SXM2, fp32`; empty where no file of its own describes the GPU
  /// GPUs with cores of one design, which use their peaks alike: `hopper`; empty: the GPU is a family of its own.
  std::string gpu_family;
  int gpus_per_node = 1;
  /// Nodes whose GPUs share one switch for their own links, 18 in an NVL72 rack: a domain. Its GPUs talk to each other
  /// at the local rate, whichever nodes they are in; between domains they use the NICs of their nodes.
  int nodes_per_domain = 1;
  int most_nodes = 0;  ///< nodes that work together at most; 0: any number

  Seconds local_latency;      ///< per message inside a domain
  Seconds local_low_latency;  ///< see `network_low_latency`
  BytesPerSecond local_rate;  ///< per GPU inside a domain; without peer access `kThroughHost` of what its link carries
  /// By a number of GPUs: the factor of `local_rate` where the first ones of a domain, of that number, send to each
  /// other alone. NVLink may join pairs alone, and two GPUs of a mesh have fewer links to each other than eight.
  std::map<int, double> local_factors;
  /// Whether GPUs of a node read and write each other's memory; else bytes go through that of the host.
  bool peer_access = true;
  /// Share of a link's rate at which the switch of a domain adds up what GPUs send (NVLS); 0: it does not.
  double switch_reduction = 0;
  Seconds network_latency;  ///< per message between domains
  /// Latency of a protocol for small messages that sends a flag with every word, so twice the bytes (NCCL's LL).
  /// A message takes whichever is sooner. 0: there is none.
  Seconds network_low_latency;
  BytesPerSecond line_rate;        ///< of one NIC
  int nics = 1;                    ///< per node
  BytesPerSecond stream_cap;       ///< what one stream (TCP connection, say) reaches at most; 0: no cap
  double stream_factor = 1;        ///< that cap may be higher or lower by this factor; widens the band
  int streams = 1;                 ///< parallel streams between two ranks
  double protocol_efficiency = 1;  ///< payload over line rate, such as 0.957 for TCP/IP on Ethernet
  /// What the trees of the vendor's library carry out of a domain of several nodes; 0: as much as its NICs.
  BytesPerSecond tree_rate;
  BytesPerSecond server_rate;  ///< of one parameter server on a network, in and out together; 0: no limit
  double server_factor = 1;    ///< the servers' rate may be higher or lower by this factor; widens the band
  /// From the call of a collective until its kernels run, where nothing is queued before it.
  Seconds call_latency;
  BytesPerSecond memory_rate;    ///< of a GPU's memory, for reductions, packing and encoding; 0: these are free
  double overlap_slowdown = 0;   ///< compute takes 1 + this while a collective is in flight
  double straggler = 0;          ///< relative standard deviation of a rank's compute time
  double uncertainty = 0;        ///< relative uncertainty of the rates and latencies: the band of predictions
  BytesPerSecond gpu_link_rate;  ///< the most that this GPU's own links (NVLink) carry; 0: unknown or none
  Bytes gpu_memory;              ///< of one GPU; 0: unknown
  BytesPerSecond gpu_bus_rate;   ///< the most that its PCIe bus carries; 0: unknown
  GpuPeaks peaks;
  std::optional<Price> price;
  /// By workload name: the first of the stated ones that may be used.
  std::map<std::string, GpuRate, std::less<>> rates;
  GpuRates stated_rates;  ///< all that are stated, by workload name, in file order

  /// What compressors take where they were measured, by their canonical text (`topk:0.01`).
  std::map<std::string, StatedCoding, std::less<>> coding;
  std::vector<MeasuredCurve> curves;  ///< collectives that were measured on the cluster

  std::vector<Figure> figures;  ///< every figure above, in file order
  std::string digest;           ///< of the file's text: equal digests are equal profiles

  /// GPUs that work together at most; 0: any number.
  std::int64_t most_gpus() const { return std::int64_t{most_nodes} * gpus_per_node; }
  /// Returns the number of nodes that `workers` workers are on.
  int nodes_of(int workers) const { return (workers + gpus_per_node - 1) / gpus_per_node; }
  /// GPUs that talk to each other without a NIC.
  int gpus_per_domain() const { return gpus_per_node * nodes_per_domain; }
  /// Returns the number of domains that `workers` workers are on, which fill one after the other.
  int domains_of(int workers) const { return (workers + gpus_per_domain() - 1) / gpus_per_domain(); }
  /// Returns the number of nodes in the last of these domains, whose NICs are the fewest.
  int nodes_of_last_domain(int workers) const { return (nodes_of(workers) - 1) % nodes_per_domain + 1; }
  /// Returns the local rate among the first `gpus` GPUs of a domain: that of the least stated number which has them
  /// all.
  BytesPerSecond local_rate_of(int gpus) const;
  /// Multiplies the rate of all GPUs of a domain, and leaves that of fewer as it is.
  void scale_full_local(double factor);
  /// What one rank-to-rank path over the network carries, with the NICs of `nodes` nodes of a domain: min(line, streams
  /// x cap) x efficiency.
  BytesPerSecond path_rate(int nodes = 1) const;
  /// Whether its messages go by TCP: streams are stated, or its one NIC has the latency of TCP and no protocol of low
  /// latency. Several NICs with a long latency are plug-ins' (EFA, TCPX).
  bool is_tcp() const {
    return stream_cap.value > 0 || (nics == 1 && network_low_latency.value == 0 && network_latency > kLongestByRdma);
  }
  /// Whether streams carry less than the line does.
  bool bound_by_streams() const { return stream_cap.value > 0 && stream_cap * streams < line_rate; }
  /// What all NICs of `nodes` nodes carry together.
  BytesPerSecond node_rate(int nodes = 1) const;
  /// The same cluster with every latency multiplied by `factor`.
  Profile delayed(double factor) const;
  /// The same, and every rate divided by it.
  Profile slowed(double factor) const;
  /// What a compressor, by its text, was measured to take here; none where it was not.
  std::optional<CodingRate> coding_rate(std::string_view compressor) const;
  /// Returns what the link of one GPU carries inside a domain, which `local.rate` states.
  BytesPerSecond local_link_rate() const { return peer_access ? local_rate : local_rate / kThroughHost; }
  /// The figures that nobody states, in file order.
  std::vector<Figure> assumed() const;
  /// Those of them that a job on `gpus` GPUs rests on: links where there are several, the network beyond a domain.
  std::vector<Figure> assumed_for(int gpus) const;
  /// The same cluster with the figures that have a factor, or are assumed, at one end of what they may be.
  Profile at(End end) const;
};

/// Reads one profile. A key that is unknown, missing, without a unit or out of range is an
/// Error (usage) that names `file_name` and the line. `gpus` resolves `gpu = "v100"` to a GPU's figures.
Profile parse_profile(std::string_view toml, std::string_view file_name, const std::filesystem::path& gpus);

/// The profiles of a folder, which also holds `gpus/*.toml`.
class ProfileLibrary {
 public:
  /// \throws Error (environment) when `folder` cannot be read.
  explicit ProfileLibrary(const std::filesystem::path& folder) : files_(folder, "profile", "hbench list profiles") {}
  /// Sorted.
  const std::vector<std::string>& names() const { return files_.names(); }
  /// A known name or a path to a TOML file (recognised by `/` or `.toml`). \throws Error (usage).
  Profile load(std::string_view name_or_file) const;
  /// Returns a profile of nothing but what `gpus/` says of a GPU, and of its name alone where there is no such file.
  /// `rtx-5090` is `rtx5090`.
  Profile gpu(const std::string& name) const;
  /// The same of each GPU, sorted by `Profile::gpu`.
  std::vector<Profile> gpus() const;

 private:
  TomlLibrary files_;
};

}  // namespace hbench
