#include "analysis/prediction/comparisons.hpp"

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::array kUber{
    ComparedPlace{.label = "25 Gbit/s TCP", .nodes = "uber-p100-25gbe-tcp"},
    ComparedPlace{.label = "25 Gbit/s RDMA", .nodes = "uber-p100-25gbe-roce"},
};

constexpr std::array kEthernet{
    ComparedPlace{.label = "10 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .network = "hkbu-10gbe"},
    ComparedPlace{.label = "25 Gbit/s Ethernet", .nodes = "aws-p3-25gbe"},
    ComparedPlace{.label = "30 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .gbit_per_second = 30},
    ComparedPlace{.label = "100 Gbit/s Ethernet", .nodes = "aws-p3-25gbe", .network = "generic-100gbe-tcp"},
    ComparedPlace{.label = "100 Gbit/s InfiniBand", .nodes = "aws-p3-25gbe", .network = "hkbu-100gbib"},
};

constexpr std::array kV100{
    ComparedPlace{.label = "p3.16xlarge, 25 Gbit/s", .nodes = "aws-p3-25gbe"},
    ComparedPlace{.label = "p3dn.24xlarge, 100 Gbit/s", .nodes = "aws-p3dn-tcp"},
};

constexpr std::array kA100{
    ComparedPlace{.label = "100 Gbit/s TCP", .nodes = "azure-nd96asr-v4", .network = "aws-p3dn-tcp"},
    ComparedPlace{.label = "100 Gbit/s RDMA", .nodes = "azure-nd96asr-v4", .gbit_per_second = 100},
    ComparedPlace{.label = "400 Gbit/s RDMA", .nodes = "azure-nd96asr-v4", .gbit_per_second = 400},
    ComparedPlace{.label = "1600 Gbit/s RDMA", .nodes = "azure-nd96asr-v4"},
};

constexpr std::array kComparisons{
    ReadyComparison{
        .name = "horovod-tensorflow",
        .summary = "Horovod or TensorFlow's servers, 25 Gbit/s TCP and RDMA",
        .note = "Nodes of 4 P100. Horovod's documentation states 90 % for Inception V3 and ResNet-101 and 68 % for "
                "VGG-16 on "
                "512 GPUs, an older one 90 and 79 % on 128. TensorFlow's servers hold whole variables, one server on "
                "each node.",
        .workloads = "inception_v3,resnet101,vgg16",
        .presets = "horovod-2018,tf-ps",
        .gpus = "8,32,128,512",
        .places = kUber,
        .measured = {MeasuredSide{"Horovod", "horovod"}, MeasuredSide{"TensorFlow", "tensorflow"}}},
    ReadyComparison{
        .name = "ethernet-infiniband",
        .summary = "10, 25, 30, 100 Gbit/s Ethernet or InfiniBand, 8 x V100",
        .note = "Nodes of aws-p3-25gbe on the networks of other profiles: latency, caps of TCP streams and the rate of "
                "parameter servers come with the network. 10 Gbit/s is that of hkbu-10gbe, 30 that of aws-p3-25gbe "
                "with a faster line, 100 that of generic-100gbe-tcp and of hkbu-100gbib.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kEthernet},
    ReadyComparison{
        .name = "v100-25-100",
        .summary = "AWS instances with 8 V100: 25 against 100 Gbit/s",
        .note = "p3dn has four times the line of p3, and its TCP streams reach what the profile says of them: how many "
                "NCCL opens is known within a factor only, so its bands are wide.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kV100},
    ReadyComparison{
        .name = "a100-100-400-1600",
        .summary = "Nodes of 8 A100 with 100, 400 and 1600 Gbit/s",
        .note = "Nodes of azure-nd96asr-v4 (1600 Gbit/s) with slower lines, all else the same; 100 Gbit/s TCP is the "
                "network of aws-p3dn-tcp under these nodes.",
        .workloads = "resnet50,vgg16",
        .presets = "horovod,byteps",
        .gpus = "16,32,64,128",
        .places = kA100},
};

}  // namespace

std::span<const ReadyComparison> ready_comparisons() { return kComparisons; }

const ReadyComparison& find_comparison(std::string_view name) {
  return find_entry(ready_comparisons(), name, "comparison");
}

}  // namespace hbench
