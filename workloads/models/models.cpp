#include "workloads/models/models.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// The residual networks: how many blocks lie between two halvings of the image.
constexpr ModelEntry resnet(std::string_view name, std::string_view title, std::int64_t parameters,
                            std::array<int, 5> stages, bool bottleneck) {
  return {.name = name,
          .title = title,
          .citation =
              "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016 (torchvision's "
              "v1.5 strides)",
          .parameters = parameters,
          .architecture = Architecture::resnet,
          .stages = stages,
          .bottleneck = bottleneck};
}

/// The networks of Oxford's Visual Geometry Group: how many convolutions lie between two halvings of the image.
constexpr ModelEntry vgg(std::string_view name, std::string_view title, std::int64_t parameters,
                         std::array<int, 5> stages, bool batch_norm) {
  return {.name = name,
          .title = title,
          .citation =
              "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, "
              "ICLR 2015",
          .parameters = parameters,
          .architecture = Architecture::vgg,
          .stages = stages,
          .batch_norm = batch_norm};
}

/// Of 40 numbers: how many convolutions, and how many hidden layers.
constexpr ModelEntry series(std::string_view name, std::string_view title, std::int64_t parameters,
                            std::array<int, 5> stages) {
  return {.name = name,
          .title = title,
          .citation = "Greydanus and Kobak, Scaling down deep learning with MNIST-1D, ICML 2024",
          .parameters = parameters,
          .smallest_image = 1,
          .channels = 1,
          .classes = 10,
          .series = 40,
          .architecture = Architecture::series,
          .stages = stages};
}

constexpr std::string_view kInceptionCitation =
    "Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, Rethinking the Inception Architecture for Computer Vision, CVPR 2016";

constexpr std::array kEntries{
    resnet("resnet18", "ResNet-18", 11'689'512, {2, 2, 2, 2}, false),
    resnet("resnet34", "ResNet-34", 21'797'672, {3, 4, 6, 3}, false),
    resnet("resnet50", "ResNet-50", 25'557'032, {3, 4, 6, 3}, true),
    resnet("resnet101", "ResNet-101", 44'549'160, {3, 4, 23, 3}, true),
    resnet("resnet152", "ResNet-152", 60'192'808, {3, 8, 36, 3}, true),
    vgg("vgg11", "VGG-11", 132'863'336, {1, 1, 2, 2, 2}, false),
    vgg("vgg13", "VGG-13", 133'047'848, {2, 2, 2, 2, 2}, false),
    vgg("vgg16", "VGG-16", 138'357'544, {2, 2, 3, 3, 3}, false),
    vgg("vgg19", "VGG-19", 143'667'240, {2, 2, 4, 4, 4}, false),
    vgg("vgg11_bn", "VGG-11 with batch normalisation", 132'868'840, {1, 1, 2, 2, 2}, true),
    vgg("vgg13_bn", "VGG-13 with batch normalisation", 133'053'736, {2, 2, 2, 2, 2}, true),
    vgg("vgg16_bn", "VGG-16 with batch normalisation", 138'365'992, {2, 2, 3, 3, 3}, true),
    vgg("vgg19_bn", "VGG-19 with batch normalisation", 143'678'248, {2, 2, 4, 4, 4}, true),
    ModelEntry{
        .name = "inception_v3",
        .title = "Inception V3",
        .citation = kInceptionCitation,
        .parameters = 23'834'568,
        .smallest_image = 75,
        .architecture = Architecture::inception,
    },
    // The auxiliary head's 5 x 5 convolution needs the full 17 x 17 grid.
    ModelEntry{
        .name = "inception_v3_aux",
        .title = "Inception V3 with its auxiliary head",
        .citation = kInceptionCitation,
        .parameters = 27'161'264,
        .smallest_image = 299,
        .architecture = Architecture::inception,
        .auxiliary_head = true,
    },
    ModelEntry{
        .name = "mobilenet_v2",
        .title = "MobileNetV2",
        .citation =
            "Sandler, Howard, Zhu, Zhmoginov and Chen, MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR "
            "2018",
        .parameters = 3'504'872,
        .architecture = Architecture::mobilenet,
    },
    ModelEntry{
        .name = "lenet5",
        .title = "LeNet-5",
        .citation = "LeCun, Bottou, Bengio and Haffner, Gradient-Based Learning Applied to Document Recognition, "
                    "Proc. IEEE 86(11), 1998 (every map of C3 connected, ReLU and maximum pooling)",
        .parameters = 61'706,
        .channels = 1,
        .classes = 10,
        .architecture = Architecture::lenet,
    },
    series("cnn1d", "three convolutions over a series", 5'210, {3, 0}),
    series("mlp1d", "two hidden layers over a series", 15'210, {0, 2}),
    series("linear1d", "logistic regression over a series", 410, {0, 0}),
};

constexpr auto kModels = [] {
  std::array<const ModelEntry*, kEntries.size()> table{};
  std::transform(kEntries.begin(), kEntries.end(), table.begin(), [](const ModelEntry& entry) { return &entry; });
  return table;
}();

}  // namespace

std::span<const ModelEntry* const> models() { return kModels; }

}  // namespace hbench
