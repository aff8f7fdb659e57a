"""One rank of PyTorch's DistributedDataParallel on Gloo or, on GPUs, NCCL."""

import hbench_rank


def version(setting):
    import torch_rank
    import torch.distributed

    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        raise ImportError("this torch has no Gloo")
    return torch_rank.torch.__version__


PERIOD = 4  # iterations after which ranks of local SGD average


def zero_redundancy(model):
    """The optimizer of which each rank has a part."""
    import torch_rank
    from torch.distributed.optim import ZeroRedundancyOptimizer

    sgd = torch_rank.sgd(model.parameters())
    return ZeroRedundancyOptimizer(model.parameters(), type(sgd), **sgd.defaults)


def local_sgd(model, rank, ranks):
    """Makes ranks average parameters every PERIOD iterations, and never gradients; returns the optimizer that does."""
    import torch.distributed
    import torch_rank
    from torch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as post_local
    from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
    from torch.distributed.optim import PostLocalSGDOptimizer

    alone = [torch.distributed.new_group([each]) for each in range(ranks)]
    state = post_local.PostLocalSGDState(None, alone[rank], start_localSGD_iter=0, post_local_gradient_allreduce=False)
    model.register_comm_hook(state, post_local.post_localSGD_hook)
    averager = PeriodicModelAverager(period=PERIOD, warmup_steps=0)
    averager.step = 1  # else the first iteration of each period ends with a mean, and the last one with none
    return PostLocalSGDOptimizer(torch_rank.sgd(model.parameters()), averager)


def train(order, rank, ranks, local_rank):
    import torch
    import torch_rank

    agree = torch_rank.meet(order["case"], rank, ranks)
    setting = hbench_rank.setting_of(order["case"]["framework"])

    def spread(model):
        # All options as they are by default, but what the name asks for.
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=setting == "bucket-view")
        if setting == "zero":
            return model, zero_redundancy(model)
        return model, local_sgd(model, rank, ranks) if setting == "local-sgd" else torch_rank.sgd(model.parameters())

    return torch_rank.train(order, rank, spread, agree, cycle=PERIOD if setting == "local-sgd" else 1)


hbench_rank.main(version, train)
