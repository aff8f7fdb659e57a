"""torchvision's networks in TensorFlow's operations: as many parameters, layer by layer, and the same arithmetic."""

import tensorflow as tf

CLASSES = 1000
RESNETS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3), "resnet101": (3, 4, 23, 3),
           "resnet152": (3, 8, 36, 3)}
# Of MobileNetV2: how much blocks widen, the channels that they leave, their number, and the stride of the first.
MOBILENET = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
VGGS = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


def variable(shape, deviation, name):
    """Equal on all ranks."""
    return tf.Variable(tf.random.stateless_normal(shape, [1, shape[-1]]) * deviation, name=name)


def padded(images, pixels):
    """Images with so many zeros on each side. SAME is another padding where there is a stride, and an operation's own
    explicit one has a gradient that takes ten times as long."""
    return tf.pad(images, [[0, 0], [pixels, pixels], [pixels, pixels], [0, 0]]) if pixels else images


class Convolution(tf.Module):
    def __init__(self, channels, filters, size, stride=1, bias=False):
        super().__init__()
        self.kernel = variable((size, size, channels, filters), (2 / (size * size * filters)) ** 0.5, "kernel")
        self.bias = tf.Variable(tf.zeros(filters), name="bias") if bias else None
        self.stride, self.padding = stride, size // 2

    def __call__(self, images):
        if self.stride == 1:
            images = tf.nn.conv2d(images, self.kernel, 1, "SAME")
        else:
            images = tf.nn.conv2d(padded(images, self.padding), self.kernel, self.stride, "VALID")
        return images if self.bias is None else tf.nn.bias_add(images, self.bias)


class Depthwise(tf.Module):
    """Convolves each channel alone."""

    def __init__(self, channels, size, stride):
        super().__init__()
        self.kernel = variable((size, size, channels, 1), (2 / (size * size * channels)) ** 0.5, "kernel")
        self.stride, self.padding = stride, size // 2

    def __call__(self, images):
        return tf.nn.depthwise_conv2d(padded(images, self.padding), self.kernel, [1, self.stride, self.stride, 1], "VALID")


class BatchNorm(tf.Module):
    """By the statistics of a rank's own batch, as all frameworks do by default."""

    def __init__(self, channels):
        super().__init__()
        self.scale = tf.Variable(tf.ones(channels), name="scale")
        self.offset = tf.Variable(tf.zeros(channels), name="offset")
        self.running = [tf.Variable(initial(channels), trainable=False, name="running",
                                    synchronization=tf.VariableSynchronization.ON_READ,
                                    aggregation=tf.VariableAggregation.MEAN) for initial in (tf.zeros, tf.ones)]

    def __call__(self, images):
        images, *statistics = tf.compat.v1.nn.fused_batch_norm(images, self.scale, self.offset, epsilon=1e-5)
        for running, now in zip(self.running, statistics):
            running.assign_sub(0.1 * (running - now))
        return images


class Linear(tf.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = variable((inputs, outputs), (3 * inputs) ** -0.5, "weight")
        self.bias = tf.Variable(tf.zeros(outputs), name="bias")

    def __call__(self, values):
        return values @ self.weight + self.bias


class Block(tf.Module):
    """A residual block: two convolutions, or with a bottleneck three, the outer two of 1 x 1."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        filters = width * 4 if bottleneck else width
        plan = [(width, 1, 1), (width, 3, stride), (filters, 1, 1)] if bottleneck else [(width, 3, stride),
                                                                                        (width, 3, 1)]
        self.layers = []
        inputs = channels
        for outputs, size, step in plan:
            self.layers.append((Convolution(inputs, outputs, size, step), BatchNorm(outputs)))
            inputs = outputs
        self.shortcut = []
        if stride > 1 or channels != filters:
            self.shortcut = [Convolution(channels, filters, 1, stride), BatchNorm(filters)]

    def __call__(self, images):
        kept = images
        for layer in self.shortcut:
            kept = layer(kept)
        for place, (convolution, norm) in enumerate(self.layers, 1):
            images = norm(convolution(images))
            images = tf.nn.relu(images + kept if place == len(self.layers) else images)
        return images


class ResNet(tf.Module):
    def __init__(self, name):
        super().__init__()
        bottleneck = int(name[len("resnet"):]) >= 50
        self.stem, self.norm = Convolution(3, 64, 7, 2), BatchNorm(64)
        self.blocks = []
        channels = 64
        for stage, count in enumerate(RESNETS[name]):
            for number in range(count):
                stride = 2 if stage > 0 and number == 0 else 1
                self.blocks.append(Block(channels, 64 << stage, stride, bottleneck))
                channels = (64 << stage) * (4 if bottleneck else 1)
        self.head = Linear(channels, CLASSES)

    def __call__(self, images):
        images = tf.nn.relu(self.norm(self.stem(images)))
        images = tf.nn.max_pool2d(padded(images, 1), 3, 2, "VALID")  # after relu a zero is as good as nothing
        for block in self.blocks:
            images = block(images)
        return self.head(tf.reduce_mean(images, [1, 2]))


def means_of_parts(pixels, parts):
    """The matrix of PyTorch's adaptive pooling along one side of an image."""
    rows = []
    for part in range(parts):
        begin, end = part * pixels // parts, -(-(part + 1) * pixels // parts)
        rows.append([1 / (end - begin) if begin <= pixel < end else 0 for pixel in range(pixels)])
    return tf.constant(rows, tf.float32)


class Vgg(tf.Module):
    def __init__(self, name):
        super().__init__()
        self.layers = []  # of each part of the network, between which the image is halved
        channels = 3
        for stage, count in enumerate(VGGS[name.removesuffix("_bn")]):
            part = []
            for _ in range(count):
                filters = min(64 << stage, 512)
                part.append([Convolution(channels, filters, 3, bias=True)])
                part[-1] += [BatchNorm(filters)] if name.endswith("_bn") else []
                channels = filters
            self.layers.append(part)
        self.classifier = [Linear(7 * 7 * 512, 4096), Linear(4096, 4096), Linear(4096, CLASSES)]

    def __call__(self, images):
        for part in self.layers:
            for layers in part:
                for layer in layers:
                    images = layer(images)
                images = tf.nn.relu(images)
            images = tf.nn.max_pool2d(images, 2, 2, "VALID")
        pooling = means_of_parts(images.shape[1], 7)
        # Flat in the order of PyTorch, so that the weights of both are the same matrix.
        values = tf.reshape(tf.einsum("ih,jw,nhwc->ncij", pooling, pooling, images), (images.shape[0], -1))
        for layer in self.classifier[:2]:
            values = tf.nn.dropout(tf.nn.relu(layer(values)), 0.5)
        return self.classifier[2](values)


class InvertedResidual(tf.Module):
    """Widens the image, convolves each channel alone, and projects it to few channels."""

    def __init__(self, channels, filters, stride, factor):
        super().__init__()
        wide = channels * factor
        self.layers = [(Convolution(channels, wide, 1), BatchNorm(wide))] if factor > 1 else []
        self.layers.append((Depthwise(wide, 3, stride), BatchNorm(wide)))
        self.layers.append((Convolution(wide, filters, 1), BatchNorm(filters)))
        self.residual = stride == 1 and channels == filters

    def __call__(self, images):
        kept = images
        for convolution, norm in self.layers[:-1]:
            images = tf.nn.relu6(norm(convolution(images)))
        convolution, norm = self.layers[-1]
        images = norm(convolution(images))
        return kept + images if self.residual else images


class MobileNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = Convolution(3, 32, 3, 2), BatchNorm(32)
        self.blocks = []
        channels = 32
        for factor, filters, count, stride in MOBILENET:
            for number in range(count):
                self.blocks.append(InvertedResidual(channels, filters, 1 if number else stride, factor))
                channels = filters
        self.last = Convolution(channels, 1280, 1), BatchNorm(1280)
        self.head = Linear(1280, CLASSES)

    def __call__(self, images):
        images = tf.nn.relu6(self.norm(self.stem(images)))
        for block in self.blocks:
            images = block(images)
        convolution, norm = self.last
        values = tf.reduce_mean(tf.nn.relu6(norm(convolution(images))), [1, 2])
        return self.head(tf.nn.dropout(values, 0.2))


def make_model(name):
    """The network that hbench knows by this name."""
    if name == "mobilenet_v2":
        return MobileNet()
    return ResNet(name) if name in RESNETS else Vgg(name)
