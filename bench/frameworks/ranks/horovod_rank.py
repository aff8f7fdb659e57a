"""One rank of Horovod on PyTorch, over the MPI library that starts it or over Gloo."""

import os

import hbench_rank


def version(setting):
    import horovod
    import horovod.torch
    import torch_rank  # noqa: F401  torchvision's models are needed too

    name, built = ("Gloo", horovod.torch.gloo_built()) if setting == "gloo" else ("MPI", horovod.torch.mpi_built())
    if not built:
        raise ImportError(f"this horovod was built without {name}")
    return horovod.__version__


def meet_over_gloo(case, rank, ranks, local_rank):
    """Tells Horovod who is who and where its ranks meet, as horovodrun --gloo does; returns the server of rank 0."""
    import meeting
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
    from horovod.runner.http.http_server import RendezvousServer

    others, server, port = meeting.Meeting(rank, ranks), None, 0
    on_host = hbench_rank.workers_per_host(case)
    interface, own = meeting.own_place()
    hosts = others.gather(own)
    if rank == 0:
        server = RendezvousServer(verbose=False)
        port = server.start()
        slots = ",".join(f"{host}:{on_host}" for host in hosts[::on_host])
        server.init(get_host_assignments(parse_hosts(slots), ranks))
    os.environ.update({
        "HOROVOD_CONTROLLER": "gloo", "HOROVOD_CPU_OPERATIONS": "gloo", "HOROVOD_GLOO_IFACE": interface,
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": hosts[0], "HOROVOD_GLOO_RENDEZVOUS_PORT": str(others.agree(port)),
        "HOROVOD_HOSTNAME": own, "HOROVOD_RANK": str(rank), "HOROVOD_SIZE": str(ranks),
        "HOROVOD_LOCAL_RANK": str(local_rank), "HOROVOD_LOCAL_SIZE": str(on_host),
        "HOROVOD_CROSS_RANK": str(rank // on_host), "HOROVOD_CROSS_SIZE": str(case["nodes"])})
    return others, server


def train(order, rank, ranks, local_rank):
    import horovod.torch as hvd
    import torch
    import torch_rank

    case = order["case"]
    gloo = hbench_rank.setting_of(case["framework"]) == "gloo"
    kept = meet_over_gloo(case, rank, ranks, local_rank) if gloo else None
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
    del kept
    return digest


hbench_rank.main(version, train)
