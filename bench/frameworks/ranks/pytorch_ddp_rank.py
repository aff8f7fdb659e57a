"""One rank of PyTorch's DistributedDataParallel on Gloo or, on GPUs, NCCL."""

import hbench_rank


def version(setting):
    import torch_rank
    import torch.distributed

    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        raise ImportError("this torch has no Gloo")
    return torch_rank.torch.__version__


def train(order, rank, ranks, local_rank):
    import torch
    import torch_rank

    agree = torch_rank.meet(order["case"], rank, ranks)

    def spread(model):
        # All options as they are by default, but what the name asks for.
        view = hbench_rank.setting_of(order["case"]["framework"]) == "bucket-view"
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=view)
        return model, torch_rank.sgd(model.parameters())

    return torch_rank.train(order, rank, spread, agree)


hbench_rank.main(version, train)
