"""One rank of PyTorch's fully_shard (FSDP2) on Gloo or, on GPUs, NCCL."""

import hbench_rank


def version(setting):
    import torch_rank

    installed = torch_rank.torch.__version__
    if tuple(int(part) for part in installed.split(".")[:2]) < (2, 6):
        raise ImportError(f"torch {installed} lacks fully_shard, which came with 2.6")
    return installed


def units(model):
    """What is gathered together: each block of a network, and each layer of a classifier, as the manual says."""
    import torch
    from torchvision.models import inception, mobilenetv2, resnet

    blocks = (resnet.BasicBlock, resnet.Bottleneck, inception.InceptionA, inception.InceptionB, inception.InceptionC,
              inception.InceptionD, inception.InceptionE, mobilenetv2.InvertedResidual, torch.nn.Linear)
    return [module for module in model.modules() if isinstance(module, blocks)]


def train(order, rank, ranks, local_rank):
    import torch
    import torch_rank
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    agree = torch_rank.meet(order["case"], rank, ranks)

    def spread(model):
        mesh = init_device_mesh("cuda" if hbench_rank.on_gpu(order["case"]) else "cpu", (ranks,))
        model = model.to(memory_format=torch.contiguous_format)  # fully_shard takes no other
        for unit in units(model):
            fully_shard(unit, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model, torch_rank.sgd(model.parameters())

    def gathered(model):
        return (parameter.full_tensor() for parameter in model.parameters())

    return torch_rank.train(order, rank, spread, agree, gathered)


hbench_rank.main(version, train)
