"""One rank of DeepSpeed, whose setting is the stage of ZeRO."""

import os
import sys

import hbench_rank

# PyTorch looks for ninja on the path, where a virtual environment that nobody has activated is not.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)


def version(setting):
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    import torch_rank  # noqa: F401  torchvision's models are needed too
    import deepspeed
    from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder
    from torch.utils import cpp_extension

    # DeepSpeed compiles what its ranks of one host talk by when they first do: minutes, in which they would be lost.
    name = ShareMemCommBuilder().name
    if not os.path.exists(os.path.join(cpp_extension._get_build_directory(name, False), f"{name}.so")):
        raise ImportError(f"deepspeed has not compiled its {name} yet")
    return deepspeed.__version__


def train(order, rank, ranks, local_rank):
    case = order["case"]
    os.environ.update({"RANK": str(rank), "LOCAL_RANK": str(local_rank), "WORLD_SIZE": str(ranks),
                       "LOCAL_SIZE": str(hbench_rank.workers_per_host(case)), "DS_ACCELERATOR": "cuda" if hbench_rank.on_gpu(case) else "cpu"})
    import deepspeed
    import torch_rank

    agree = torch_rank.meet(case, rank, ranks)
    deepspeed.init_distributed(torch_rank.backend_of(case), auto_mpi_discovery=False)
    setting = hbench_rank.setting_of(case["framework"])
    config = {"train_micro_batch_size_per_gpu": case["batch_per_gpu"],
              "steps_per_print": 10**9,
              "zero_allow_untested_optimizer": True,  # SGD
              "zero_force_ds_cpu_optimizer": False,
              "zero_optimization": {"stage": int(setting[-1]) if setting else 0}}

    def spread(model):
        engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch_rank.sgd(model.parameters()), config=config)
        return engine, engine

    return torch_rank.train(order, rank, spread, agree, backward=lambda engine, loss: engine.backward(loss))


hbench_rank.main(version, train)
