"""Makes my-cnn.pt: a small network of PyTorch, saved with its code."""
import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(8))
        self.head = nn.Linear(8 * 4 * 4, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


torch.manual_seed(1)
torch.jit.script(Small()).save("my-cnn.pt")
