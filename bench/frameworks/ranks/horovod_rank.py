"""One rank of Horovod on PyTorch, over the MPI library that starts it."""

import hbench_rank


def version():
    import horovod
    import horovod.torch
    import torch_rank  # noqa: F401  torchvision's models are needed too

    if not horovod.torch.mpi_built():
        raise ImportError("this horovod was built without MPI")
    return horovod.__version__


def train(order, rank, ranks, local_rank):
    import horovod.torch as hvd
    import torch
    import torch_rank

    hvd.init()

    def spread(model):
        optimizer = torch_rank.sgd(model.parameters())
        optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        return model, optimizer

    def agree(number):
        return int(hvd.broadcast(torch.tensor(number), root_rank=0))

    digest = torch_rank.train(order, rank, spread, agree)
    hvd.shutdown()  # mpirun takes a rank that ends without it for a lost one
    return digest


hbench_rank.main(version, train)
