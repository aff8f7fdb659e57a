"""One rank of a PyTorch training job, started by `ddp`; prints its median step time as JSON.

Without RANK in the environment it trains alone, without DistributedDataParallel: the bare loop.
"""

import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed
import torchvision


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--image-size", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--core", type=int, required=True)
    parser.add_argument("--bucket-view", action="store_true")
    return parser.parse_args()


def make_data(arguments):
    """Batches of random images that take turns, as hbench's do."""
    shape = (arguments.batch, 3, arguments.image_size, arguments.image_size)
    return [(torch.randn(shape), torch.randint(1000, (arguments.batch,))) for _ in range(4)]


def train(arguments, model):
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.01, foreach=True)
    criterion = torch.nn.CrossEntropyLoss()
    data = make_data(arguments)
    times = []
    for step in range(arguments.warmup + arguments.steps):
        begin = time.perf_counter()
        images, labels = data[step % len(data)]
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        if step >= arguments.warmup:
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    arguments = parse_arguments()
    rank = int(os.environ.get("RANK", "0"))
    os.sched_setaffinity(0, {arguments.core % os.cpu_count()})
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    model = getattr(torchvision.models, arguments.model)()
    torch.manual_seed(2 + rank)
    if "RANK" in os.environ:
        torch.distributed.init_process_group("gloo")  # the address is in the environment
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=arguments.bucket_view)
    print(json.dumps({"rank": rank, "step_seconds": train(arguments, model)}), flush=True)


main()
