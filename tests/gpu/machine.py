"""What this machine is, and what of it a step may need."""
import functools
import pathlib
import re
import shutil
import subprocess

FACTS = {"name": "name", "compute capability": "compute_cap", "driver": "driver_version", "memory": "memory.total",
         "power limit": "power.limit", "largest SM clock": "clocks.max.sm", "largest memory clock": "clocks.max.mem"}


def output_of(*command, seconds=30):
    """Standard output, or nothing where the command is missing, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def smi(*fields):
    """Of the first GPU; an empty list where there is none, or its driver does not answer."""
    line = output_of("nvidia-smi", "--id=0", f"--query-gpu={','.join(fields)}", "--format=csv,noheader")
    return [cell.strip() for cell in line.splitlines()[0].split(",")] if line else []


def describe():
    """Facts of the first GPU and of what runs on it, in words; None where there is no GPU."""
    name = smi("name")
    if not name:
        return None
    facts = {"name": name[0]}
    for key, field in FACTS.items():
        facts[key] = " ".join(smi(field))
    facts["toolkit"] = "".join(re.findall(r"release ([0-9.]+)", output_of("nvcc", "--version")))
    torch = "import torch; print(torch.__version__, 'NCCL', '.'.join(map(str, torch.cuda.nccl.version())))"
    facts["PyTorch"] = output_of("python3", "-c", torch, seconds=120)
    facts["GPUs"] = str(count())
    return facts


SEVERAL_GPUS = "several GPUs"
NEWER_NCCL = "a newer NCCL"


@functools.lru_cache
def count():
    return len(output_of("nvidia-smi", "--list-gpus").splitlines())


@functools.lru_cache
def has_torch():
    return output_of("python3", "-c", "import torch; print(torch.cuda.is_available())", seconds=120) == "True"


def torch_libraries():
    """Folders of the libraries that python3's torch brings: its own, and NVIDIA's beside it (cu13/lib, nccl/lib)."""
    where = output_of("python3", "-c", "import importlib.util as u; print(u.find_spec('torch').origin)")
    if not where:
        return []
    torch = pathlib.Path(where).parent
    return [str(torch / "lib"), *map(str, sorted(torch.parent.glob("nvidia/*/lib")))]


def lacks(need, configured, nccl=None):
    """Why a step's need is not met; None where it is. `configured`: what CMake has said of the build; `nccl`: the NCCL
    that was brought."""
    if need in ("LibTorch", "NCCL", "MPI"):
        return None if f"{need} TRUE" in configured else f"CMake has not found {need}"
    if need == SEVERAL_GPUS:
        return None if count() > 1 else "there is one GPU, and with one nothing moves"
    if need == NEWER_NCCL:
        return None if nccl else "no NCCL was brought (--nccl)"
    if need == "torch":
        return None if has_torch() else "python3 has no torch with CUDA"
    return None if shutil.which(need) else f"{need} is not on the PATH"
