#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr std::string_view kResNetCitation =
    "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016 (torchvision's v1.5 strides)";
constexpr ModelEntry kResNet18{
    .name = "resnet18",
    .title = "ResNet-18",
    .citation = kResNetCitation,
    .parameters = 11'689'512,
    .architecture = Architecture::resnet,
    .stages = {2, 2, 2, 2},
};
constexpr ModelEntry kResNet34{
    .name = "resnet34",
    .title = "ResNet-34",
    .citation = kResNetCitation,
    .parameters = 21'797'672,
    .architecture = Architecture::resnet,
    .stages = {3, 4, 6, 3},
};
constexpr ModelEntry kResNet50{
    .name = "resnet50",
    .title = "ResNet-50",
    .citation = kResNetCitation,
    .parameters = 25'557'032,
    .architecture = Architecture::resnet,
    .stages = {3, 4, 6, 3},
    .bottleneck = true,
};
constexpr ModelEntry kResNet101{
    .name = "resnet101",
    .title = "ResNet-101",
    .citation = kResNetCitation,
    .parameters = 44'549'160,
    .architecture = Architecture::resnet,
    .stages = {3, 4, 23, 3},
    .bottleneck = true,
};
constexpr ModelEntry kResNet152{
    .name = "resnet152",
    .title = "ResNet-152",
    .citation = kResNetCitation,
    .parameters = 60'192'808,
    .architecture = Architecture::resnet,
    .stages = {3, 8, 36, 3},
    .bottleneck = true,
};

constexpr std::string_view kVggCitation =
    "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015";
constexpr ModelEntry kVgg11{
    .name = "vgg11",
    .title = "VGG-11",
    .citation = kVggCitation,
    .parameters = 132'863'336,
    .architecture = Architecture::vgg,
    .stages = {1, 1, 2, 2, 2},
};
constexpr ModelEntry kVgg13{
    .name = "vgg13",
    .title = "VGG-13",
    .citation = kVggCitation,
    .parameters = 133'047'848,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 2, 2, 2},
};
constexpr ModelEntry kVgg16{
    .name = "vgg16",
    .title = "VGG-16",
    .citation = kVggCitation,
    .parameters = 138'357'544,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 3, 3, 3},
};
constexpr ModelEntry kVgg19{
    .name = "vgg19",
    .title = "VGG-19",
    .citation = kVggCitation,
    .parameters = 143'667'240,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 4, 4, 4},
};
constexpr ModelEntry kVgg11Bn{
    .name = "vgg11_bn",
    .title = "VGG-11 with batch normalisation",
    .citation = kVggCitation,
    .parameters = 132'868'840,
    .architecture = Architecture::vgg,
    .stages = {1, 1, 2, 2, 2},
    .batch_norm = true,
};
constexpr ModelEntry kVgg13Bn{
    .name = "vgg13_bn",
    .title = "VGG-13 with batch normalisation",
    .citation = kVggCitation,
    .parameters = 133'053'736,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 2, 2, 2},
    .batch_norm = true,
};
constexpr ModelEntry kVgg16Bn{
    .name = "vgg16_bn",
    .title = "VGG-16 with batch normalisation",
    .citation = kVggCitation,
    .parameters = 138'365'992,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 3, 3, 3},
    .batch_norm = true,
};
constexpr ModelEntry kVgg19Bn{
    .name = "vgg19_bn",
    .title = "VGG-19 with batch normalisation",
    .citation = kVggCitation,
    .parameters = 143'678'248,
    .architecture = Architecture::vgg,
    .stages = {2, 2, 4, 4, 4},
    .batch_norm = true,
};

constexpr std::string_view kInceptionCitation =
    "Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, Rethinking the Inception Architecture for Computer Vision, CVPR 2016";
constexpr ModelEntry kInceptionV3{
    .name = "inception_v3",
    .title = "Inception V3",
    .citation = kInceptionCitation,
    .parameters = 23'834'568,
    .smallest_image = 75,
    .architecture = Architecture::inception,
};
// The auxiliary head's 5 x 5 convolution needs the full 17 x 17 grid.
constexpr ModelEntry kInceptionV3Aux{
    .name = "inception_v3_aux",
    .title = "Inception V3 with its auxiliary head",
    .citation = kInceptionCitation,
    .parameters = 27'161'264,
    .smallest_image = 299,
    .architecture = Architecture::inception,
    .auxiliary_head = true,
};

constexpr ModelEntry kMobileNetV2{
    .name = "mobilenet_v2",
    .title = "MobileNetV2",
    .citation =
        "Sandler, Howard, Zhu, Zhmoginov and Chen, MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018",
    .parameters = 3'504'872,
    .architecture = Architecture::mobilenet,
};

constexpr ModelEntry kLeNet{
    .name = "lenet5",
    .title = "LeNet-5",
    .citation =
        "LeCun, Bottou, Bengio and Haffner, Gradient-Based Learning Applied to Document Recognition, "
        "Proc. IEEE 86(11), 1998 (every map of C3 connected, ReLU and maximum pooling)",
    .parameters = 61'706,
    .channels = 1,
    .classes = 10,
    .architecture = Architecture::lenet,
};

constexpr std::array<const ModelEntry*, 17> kModels{
    &kResNet18, &kResNet34, &kResNet50, &kResNet101, &kResNet152,   &kVgg11,          &kVgg13,       &kVgg16, &kVgg19,
    &kVgg11Bn,  &kVgg13Bn,  &kVgg16Bn,  &kVgg19Bn,   &kInceptionV3, &kInceptionV3Aux, &kMobileNetV2, &kLeNet};

}  // namespace

std::span<const ModelEntry* const> models() { return kModels; }

}  // namespace hbench
