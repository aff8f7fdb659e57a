#!/usr/bin/env python3
"""Images per second of ResNet-50 trained by PyTorch eager on the first GPU: what hbench's own model is compared with.

Usage: eager.py BATCH IMAGE_SIZE PRECISION [STEPS]; prints one number. The same model, data order and optimiser as
`hbench sweep --workload resnet50 --device gpu`: synthetic images, channels last, plain gradient descent, cudnn.benchmark.
Ends with 3 where PyTorch or a GPU is missing.
"""
import statistics
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(3)


def conv(inputs, outputs, width, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, width, stride, width // 2, bias=False), nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    """He et al., Deep Residual Learning for Image Recognition, CVPR 2016; the stride in the 3 x 3 convolution."""

    def __init__(self, inputs, middle, stride):
        super().__init__()
        outputs = 4 * middle
        self.path = nn.Sequential(
            conv(inputs, middle, 1), nn.ReLU(inplace=True), conv(middle, middle, 3, stride), nn.ReLU(inplace=True),
            conv(middle, outputs, 1))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else conv(inputs, outputs, 1, stride)

    def forward(self, x):
        return torch.relu_(self.path(x).add_(self.shortcut(x)))


def resnet50():
    layers = [conv(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def main(batch, size, precision, steps=30):
    if not torch.cuda.is_available():
        sys.exit(3)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    place = dict(device="cuda", memory_format=torch.channels_last)
    model = resnet50().to(**place)
    assert sum(p.numel() for p in model.parameters()) == 25_557_032
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    images = [torch.randn(batch, 3, size, size).to(**place) for _ in range(4)]
    labels = [torch.randint(1000, (batch,), device="cuda") for _ in range(4)]
    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16")
    times = []
    for step in range(10 + steps):
        begin = time.perf_counter()
        optimiser.zero_grad()
        with torch.autocast("cuda", dtype=half, enabled=half is not None):
            loss = nn.functional.cross_entropy(model(images[step % 4]), labels[step % 4])
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(f"{batch / statistics.median(times[10:]):.1f}")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[3] not in ("float32", "tf32", "bf16", "fp16"):
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
