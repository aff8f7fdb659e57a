"""What the ranks of frameworks on PyTorch share: models, data and the step of hbench's own ranks."""

import hashlib
import os

import torch
import torch.distributed
import torchvision

import hbench_rank
import meeting

CLASSES = 1000
BATCHES = 4


def make_model(name):
    """torchvision's model of this name of hbench, with equally many parameters."""
    torch.manual_seed(1)
    if name.startswith("inception_v3"):
        return torchvision.models.inception_v3(weights=None, init_weights=False, aux_logits=name.endswith("_aux"))
    return getattr(torchvision.models, name)()


def place_of(case, local_rank):
    """The device of a rank, which becomes the current one, with the memory format and precision of hbench's own ranks.
    Several ranks may share a GPU."""
    if not hbench_rank.on_gpu(case):
        return {"device": torch.device("cpu")}
    device = torch.device("cuda", local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.backends.cudnn.benchmark = True
    tf32 = case.get("precision") == "tf32"
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
    return {"device": device, "memory_format": torch.channels_last}


def make_data(case, rank, place):
    """Batches of random images that take turns."""
    torch.manual_seed(2 + rank)
    shape = (case["batch_per_gpu"], 3, case["image_size"], case["image_size"])
    return [(torch.randn(shape).to(**place), torch.randint(CLASSES, shape[:1]).to(place["device"]))
            for _ in range(BATCHES)]


def loss_of(output, labels):
    """The cross entropy; an auxiliary head's counts too, as in hbench."""
    if isinstance(output, tuple):
        return sum(weight * loss_of(part, labels) for weight, part in zip((1, 0.4), output))
    return torch.nn.functional.cross_entropy(output, labels)


def digest_of(parameters):
    """Equal where all bits of all parameters are."""
    sums = hashlib.sha256()
    for parameter in parameters:
        sums.update(parameter.detach().cpu().contiguous().view(-1).numpy())
    return sums.hexdigest()[:16]


def train(order, rank, spread, agree, gathered=lambda model: model.parameters(), cycle=1,
          backward=lambda model, loss: loss.backward()):
    """Trains and reports each step, or all of a cycle by their mean; returns a digest of the final parameters.

    `spread(model)` gives the model and its optimizer as the framework has them, `agree(number)` rank 0's number, and
    `gathered(model)` all parameters.
    """
    case = order["case"]
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    place = place_of(case, hbench_rank.place()[2])
    model = make_model(case["workload"]).to(**place)
    hbench_rank.report([rank], "parameters", sum(each.numel() for each in model.parameters()))
    model, optimizer = spread(model)
    data = make_data(case, rank, place)
    kind, half = place["device"].type, case.get("precision") == "bf16"
    steps = hbench_rank.Steps(order, [rank], agree, cycle)
    while steps.go_on():
        for step in range(steps.done, steps.done + cycle):
            images, labels = data[step % BATCHES]
            for parameter in model.parameters():  # as zero_grad does, whose arguments differ between frameworks
                parameter.grad = None
            with torch.autocast(kind, torch.bfloat16, enabled=half):
                loss = loss_of(model(images), labels)
            backward(model, loss)
            optimizer.step()
            last = loss.item()  # which waits for a GPU
        steps.end(last, cycle)
    hbench_rank.report([rank], "loss", last)
    return digest_of(gathered(model))


def backend_of(case):
    """What ranks exchange tensors by."""
    return "nccl" if hbench_rank.on_gpu(case) else "gloo"


def meet(case, rank, ranks):
    """Joins the ranks of this job, at the address in the environment; returns `agree` of `train`."""
    os.environ["GLOO_SOCKET_IFNAME"] = meeting.own_place()[0]
    torch.distributed.init_process_group(backend_of(case), rank=rank, world_size=ranks)

    def agree(number):
        shared = torch.tensor(number, device="cuda" if hbench_rank.on_gpu(case) else "cpu")
        torch.distributed.broadcast(shared, 0)
        return int(shared)

    return agree


def sgd(parameters):
    """The optimizer of hbench's own ranks, in PyTorch's fastest form."""
    return torch.optim.SGD(parameters, lr=0.01, foreach=True)
