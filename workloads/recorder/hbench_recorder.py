"""Records a training step of PyTorch as a workload of hbench: five lines around a training loop.

    from hbench_recorder import Recorder
    recorder = Recorder(model, batch=32, out="my_model.toml")   # before the loop; the model that is called
    for x, y in data:
        ...
        recorder.step()                                         # after optimizer.step()

After some steps of warm-up it records some, writes the file, and takes its hooks away. It ends no training: what goes
wrong is printed once, and nothing is recorded. README.md beside the sources says what is measured and how.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import platform
import secrets
import stat
import statistics
import sys
import time
import weakref
from typing import Any, Callable, Iterator, NamedTuple

try:
    import torch
except ImportError:  # format_workload() needs none
    torch = None

__version__ = "0.1.0"

# What a step's log holds beside gradients, which are numbers from 0.
STEP, CALLED, BEGIN, END, AFTER = -1, -2, -3, -4, -5

# A hook holds the training up: by so many seconds on a GPU, where it marks the stream, and on a CPU. The hooks of a step
# may take this share of it, and the others have their turn in other steps; but some are always recorded.
HOOK_SECONDS, SHARE, FEWEST_HOOKS = {"cuda": 10e-6, "cpu": 6e-6}, 0.005, 16
LOOKS = 3  # steps in which a gradient is watched, one after the other

UNSEEN = ("the begin of the backward pass was not seen: the Recorder's model is not the one that is called (which may "
          "be one that was compiled or wrapped later, or a replayed CUDA graph); give it that one, or call "
          "recorder.watch(loss) before loss.backward()")


class Unclear(Exception):
    """What was seen does not make a workload; the text says what is missing."""


class Step(NamedTuple):
    """One recorded step, in seconds."""

    forward: float  # until the backward pass begins, `called` included
    backward: float  # from there to the end of the last backward pass; where `update` is 0 to the end of the step
    waited: float  # for communication, between the end of a backward pass and its return
    called: float  # from the begin of the step until the model was called
    passes: int  # backward passes
    ready: dict[int, float]  # since the backward pass began, by number of the gradient
    update: float = 0  # from the end of the last backward pass, without `waited`, to the end of the step


class Recorded(NamedTuple):
    """What was seen of one step, and of which gradients it could be seen."""

    log: list
    watched: frozenset[int]


class Gradient(NamedTuple):
    name: str
    elements: int
    ready: float = 0  # seconds since the backward pass began


def text_of(text: str) -> str:
    """`text` as TOML writes it."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def format_workload(title: str, source: str, batch: int, forward: float, backward: float,
                    gradients: list[Gradient], update: float = 0) -> str:
    """The workload file, of times in seconds: workloads/traces/README.md of hbench has its format."""
    lines = ["format = 1", f"title = {text_of(title)}", f"source = {text_of(source)}", f"batch = {batch}",
             f'forward = "{forward * 1e6:.3f} us"', f'backward = "{backward * 1e6:.3f} us"',
             *([f'update = "{update * 1e6:.3f} us"'] if update > 0 else []), "",
             "# In the order in which gradients become ready: tensor, elements, microseconds since the backward pass "
             "began.",
             "gradients = ["]
    for gradient in sorted(gradients, key=lambda each: each.ready):
        ready = min(max(gradient.ready, 0.0), backward)
        lines.append(f"  [{text_of(gradient.name)}, {gradient.elements}, {ready * 1e6:.3f}],")
    return "\n".join(lines) + "\n]\n"


def replace_file(name: str, text: str) -> None:
    """Writes a file whole or not at all. What a link names is replaced, and keeps its mode; a pipe would be waited for,
    and a device would be replaced."""
    target = os.path.realpath(name)
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
    if mode is not None and not stat.S_ISREG(mode):
        raise Unclear(f"{name} is no regular file")
    part = os.path.join(os.path.dirname(target), f".hbench-{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


def understand(log: list, elapsed: Callable[[Any, Any], float], waits_known: bool = True) -> Step | None:
    """The step of `log`, pairs of what happened and when, from one STEP to the next; None where nothing was trained.

    What follows the last backward pass is the update, if `waits_known`: else it may be waiting for other ranks.
    """
    last = {what: place for place, (what, _) in enumerate(log) if what >= 0}
    if not last:
        return None
    # The pass that the first of the final gradients belongs to: of accumulated ones the last pass, of several losses
    # with gradients of their own the first of these.
    begins = [place for place, (what, _) in enumerate(log) if what == BEGIN]
    begin = max((place for place in begins if place < min(last.values())), default=None)
    if begin is None:
        raise Unclear(UNSEEN)
    waits = []
    end = None
    for place, (what, when) in enumerate(log):
        if what == END:
            end = when
        elif what == AFTER and end is not None:
            waits.append((place, elapsed(end, when)))

    def between(first: int, second: int) -> float:
        return elapsed(log[first][1], log[second][1]) - sum(wait for place, wait in waits if first < place < second)

    final = len(log) - 1
    ended = next((place for place in range(final, -1, -1) if log[place][0] == END), 0) if waits_known else 0
    # FSDP2 issues its last reduction at the end of the pass, before it waits.
    closed = next((place for place, _ in waits if place > ended > 0), ended)
    if closed < max(last.values()):  # gradients came from a pass that nobody saw
        ended = final
    called = next((place for place, (what, _) in enumerate(log) if what == CALLED), 0)
    return Step(forward=between(0, begin), backward=between(begin, ended), waited=sum(wait for _, wait in waits),
                called=between(0, called), passes=len(begins),
                ready={what: between(begin, place) for what, place in last.items()}, update=between(ended, final))


def turns_of(order: list[int], most: int) -> list[frozenset[int]]:
    """The gradients that are recorded in one step each time, at most `most` beside the first of `order`, which shows in
    every step which backward pass counts. Neighbours have different turns, so that each covers the whole pass."""
    count = -(-len(order) // most)
    return [frozenset(order[turn::count]) | {order[0]} for turn in range(count)]


def ready_times(steps: list[tuple[Recorded, Step]]) -> dict[int, list[float]]:
    """Of each gradient the times of all steps that watched it; where there is none, of the first step, which watched
    all."""
    times: dict[int, list[float]] = {}
    for recorded, step in steps:
        for number in recorded.watched & step.ready.keys():
            times.setdefault(number, []).append(step.ready[number])
    return times


def tensors_in(value: Any, depth: int = 4) -> Iterator[Any]:
    """The tensors of what a model returns."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth > 0:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else \
            getattr(value, "__dict__", {}).values()
        for part in parts:
            yield from tensors_in(part, depth - 1)


def elements_of(parameter: Any) -> int:
    """Of the whole parameter, of which this rank may hold a shard."""
    size = getattr(parameter, "_unpadded_unsharded_size", None)  # FullyShardedDataParallel's flat one
    return int(size.numel() if size is not None else getattr(parameter, "ds_numel", None) or parameter.numel())


def plain_name(name: str) -> str:
    """Without what wrappers put into it."""
    return ".".join(part for part in name.split(".") if part not in
                    ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")) or name


def unwrapped(model: Any) -> Any:
    while True:
        inner = getattr(model, "_orig_mod", None) or getattr(model, "module", None)
        if not isinstance(inner, torch.nn.Module):
            return model
        model = inner


def world() -> tuple[int, int, str]:
    """This rank, the number of ranks, and what they communicate by."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size(), torch.distributed.get_backend()
    horovod = sys.modules.get("horovod.torch")
    if horovod is not None and horovod.is_initialized():
        return horovod.rank(), horovod.size(), "Horovod"
    return 0, 1, ""


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# Whether torch.compile traces the caller, which then must leave nothing in what is compiled.
is_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", bool)


class Recorder:
    """Records `steps` steps after `warmup`, and writes `out`; on several ranks the first of them does. Of a model with
    many gradients in a short step it records a part in each step, and as many steps as see each gradient three times.

    `batch` is the samples of one rank and step of the optimizer. Of a model that is wrapped or compiled give what is
    called in the loop. With `title` the workload has another name than the model's class.
    """

    def __init__(self, model: Any, batch: int | None = None, out: str = "my_model.toml", warmup: int = 5,
                 steps: int = 10, title: str = "") -> None:
        self._finished = False
        self._error: Exception | None = None
        self._handles: list = []
        self._hooks: list = []  # of gradients
        self._log: list = []  # of the step that is recorded
        self._recorded: list[Recorded] = []
        self._turns: list[frozenset[int]] = []
        self._watched: frozenset[int] = frozenset()
        self._events: list = []  # of CUDA, ready to be used
        self._begun, self._pace = 0.0, float("inf")  # when the last step ended, and the shortest step of the warm-up
        self._counted = 0  # calls of step()
        self._open = False  # a backward pass has begun
        self._guarded(lambda: self._prepare(model, batch, os.fspath(out), warmup, steps, title))

    def step(self) -> None:
        """The end of a training step, after optimizer.step()."""
        if not self._finished:
            self._guarded(self._count)

    def watch(self, loss: Any) -> Any:
        """Returns `loss`, whose backward pass is about to begin: where the model's output does not show that."""
        if not self._finished and self._handles:
            self._guarded(lambda: loss.requires_grad and loss.register_hook(self._begins))
        return loss

    def __reduce__(self) -> tuple:
        return inert, ()  # the hooks of a copy or of a file of the model record nothing

    def _guarded(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as error:  # whatever it is, the training goes on
            self._finish(f"nothing is recorded: {error if isinstance(error, Unclear) else repr(error)}")

    def _finish(self, message: str) -> None:
        self._finished = True
        for handle in self._handles + self._hooks:
            with contextlib.suppress(Exception):
                handle.remove()
        self._handles, self._hooks, self._log, self._recorded, self._events = [], [], [], [], []
        atexit.unregister(self._at_exit)
        with contextlib.suppress(Exception):  # nobody may be listening
            print(f"hbench_recorder: {message}", file=sys.stderr, flush=True)

    def _prepare(self, model: Any, batch: int | None, out: str, warmup: int, steps: int, title: str) -> None:
        if torch is None or not isinstance(model, torch.nn.Module):
            raise Unclear("the model is no torch.nn.Module")
        if not isinstance(batch, int) or not 1 <= batch <= 1_000_000:
            raise Unclear("batch=... is missing: the samples of one rank and step")
        if steps < 1 or warmup < 0:
            raise Unclear("steps must be at least 1, and warmup at least 0")
        self._model = weakref.ref(model)
        self._batch, self._out, self._warmup, self._steps = batch, out, warmup, steps
        self._title = title or type(unwrapped(model)).__name__
        atexit.register(self._at_exit)
        if warmup == 0:
            self._begin()

    def _at_exit(self) -> None:
        recorded = self._counted - self._warmup
        self._guarded(self._write if recorded >= 3 else lambda: self._finish(
            f"nothing is recorded: the training ended after {self._counted} calls of step(); {self._warmup} are "
            f"warm-up, and at least 3 more are needed"))

    def _count(self) -> None:
        self._counted += 1
        if self._error is not None:
            raise self._error
        if self._handles:
            self._next_step()
        else:
            now = time.perf_counter()
            if self._counted > 1:
                self._pace = min(self._pace, now - self._begun)
            self._begun = now
        if self._counted == self._warmup:
            self._begin()
        elif self._counted == self._warmup + self._steps:
            self._write()

    def _next_step(self) -> None:
        """What is done between two steps, which belongs to neither."""
        end = self._now()
        self._open = False
        self._recorded.append(Recorded([*self._log, (STEP, end)], self._watched))
        if len(self._recorded) == 1:
            self._divide()
        self._log.clear()
        turn, again = divmod(len(self._recorded) - 1, LOOKS)
        if len(self._turns) > 1 and again == 0:  # to change hooks takes longer than to call them
            self._watch(self._turns[turn % len(self._turns)])
            end = self._now()
        self._log.append((STEP, end))

    def _divide(self) -> None:
        """Gives each gradient its turn, once a step that watched all of them has shown their order."""
        seen = list(dict.fromkeys(what for what, _ in self._recorded[0].log if what >= 0))
        cost = HOOK_SECONDS[self._device.type]
        pace = self._pace if self._pace < float("inf") else 0.0
        self._turns = turns_of(seen, max(FEWEST_HOOKS, int(SHARE * pace / cost))) if seen else []
        if len(self._turns) > 1:
            self._steps = 1 + max(self._steps, LOOKS * len(self._turns))
            self._make_events((self._steps - 1) * (max(map(len, self._turns)) + 8))

    # What hooks do: they run within the user's training, in the threads of autograd.

    def _mark(self, what: int) -> None:
        try:
            self._log.append((what, self._now()))
        except Exception as error:  # step() ends the recording
            self._error = error

    def _called(self, *_: Any) -> None:
        if self._finished or is_compiling():
            return
        if self._device.type == "cuda":
            self._stream = torch.cuda.current_stream(self._device)
        self._mark(CALLED)

    def _returns(self, _module: Any, _inputs: Any, output: Any) -> None:
        if self._finished or is_compiling():
            return
        try:
            for tensor in (output,) if isinstance(output, torch.Tensor) else tensors_in(output):
                if tensor.requires_grad:
                    if tensor.device.type != self._device.type:
                        raise Unclear(f"the parameters are on {self._device.type}, the output on {tensor.device.type}")
                    tensor.register_hook(self._begins)
        except Exception as error:
            self._error = error

    def _begins(self, _gradient: Any) -> None:
        """A backward pass has begun. What is called at its end comes before DDP waits for its all-reduces."""
        if self._finished or self._open or is_compiling():
            return
        try:
            self._mark(BEGIN)
            torch.autograd.Variable._execution_engine.queue_callback(self._ends)
            self._open = True
        except Exception as error:
            self._error = error

    def _ends(self) -> None:
        try:
            self._mark(END)
            self._open = False
            torch.autograd.Variable._execution_engine.queue_callback(lambda: self._mark(AFTER))
        except Exception as error:
            self._error = error

    def _hook_of(self, number: int) -> Callable[..., None]:
        append, now, compiling = self._log.append, self._now, is_compiling

        def ready(*_: Any) -> None:
            if compiling():
                return
            try:
                append((number, now()))
            except Exception as error:
                self._error = error

        return ready

    # Before and after.

    def _event(self) -> Any:
        """A mark on the stream on which the model was called: FSDP2 calls hooks on that of its reduction."""
        event = self._events.pop() if self._events else torch.cuda.Event(enable_timing=True)
        event.record(self._stream)
        return event

    def _make_events(self, count: int) -> None:
        """CUDA makes an event when it is first recorded, which takes longer than to record it."""
        if self._device.type == "cuda":
            self._events = [self._event() for _ in range(count)]

    def _begin(self) -> None:
        """Puts the hooks in place, on the rank that writes."""
        model = self._model()
        self._rank, self._world, self._backend = world()
        if self._rank != 0:
            self._finished = True
            atexit.unregister(self._at_exit)
            return
        if model is None:
            raise Unclear("the model is gone")
        trained = [(name, each) for name, each in model.named_parameters() if each.requires_grad and elements_of(each)]
        devices = {each.device for _, each in trained}
        if len(devices) != 1:
            raise Unclear(f"the parameters are on {len(devices)} devices, not on one" if devices else
                          "the model has no parameters to train")
        self._device = devices.pop()
        if self._device.type not in HOOK_SECONDS:
            raise Unclear(f"there is no clock for a device of the type '{self._device.type}'")
        if self._device.type == "cuda":
            self._stream = torch.cuda.current_stream(self._device)
            self._now, self._elapsed = self._event, lambda first, second: first.elapsed_time(second) * 1e-3
        else:
            self._now, self._elapsed = time.perf_counter, lambda first, second: second - first
        names = [plain_name(name) for name, _ in trained]
        if len(set(names)) < len(names):
            names = [name for name, _ in trained]
        self._gradients = [Gradient(name, elements_of(each)) for name, (_, each) in zip(names, trained)]
        self._waits_known = True
        self._notes = self._notes_of(model)
        # Before those of FSDP2, so that the end of the backward pass comes before it waits.
        prepend = "prepend" in torch.nn.Module.register_forward_hook.__code__.co_varnames  # since torch 2.0
        first = {"prepend": True} if prepend else {}
        self._handles = [model.register_forward_pre_hook(self._called),
                         model.register_forward_hook(self._returns, **first)]
        self._parameters = [weakref.ref(parameter) for _, parameter in trained]
        self._watch(frozenset(range(len(trained))))
        self._log.append((STEP, self._now()))

    def _watch(self, numbers: frozenset[int]) -> None:
        """Puts hooks on these gradients and takes them from all others."""
        for handle in self._hooks:
            handle.remove()
        self._hooks = []
        self._watched = numbers
        for number in numbers:
            parameter = self._parameters[number]()
            if parameter is not None:
                self._hooks.append(self._hook_on(parameter, self._hook_of(number)))

    def _hook_on(self, parameter: Any, hook: Callable[..., None]) -> Any:
        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            return parameter.register_post_accumulate_grad_hook(hook)
        with torch.enable_grad():  # before torch 2.1
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        self._hooks.append(Kept(node))
        return node.register_hook(hook)

    def _notes_of(self, model: Any) -> list[str]:
        """What a reader of the file must know of how the model is run."""
        kinds = [type(each) for each in model.modules()]
        names = {kind.__name__ for kind in kinds} | {base.__name__ for kind in kinds for base in kind.__mro__}
        notes = []
        ddp = "DistributedDataParallel" in names
        sharded = names & {"FSDPModule", "FullyShardedDataParallel"}
        if self._world > 1:
            how = "DDP" if ddp else "FSDP" if sharded else "something that is not known"
            notes.append(f"rank 0 of {self._world}, by {how} over {self._backend}; communication during the backward "
                         f"pass may have slowed it")
            if not ddp and not sharded:
                self._waits_known = False
                notes.append("waiting for other ranks is in the times, and the optimizer in the backward pass")
            if ddp and getattr(model, "broadcast_buffers", True) and next(model.buffers(), None) is not None:
                notes.append("DDP's broadcast of buffers is in the forward pass")
        if sharded:
            notes.append("all-gathers of parameters are in the times, and a gradient counts as ready when its group's "
                         "reduction is issued")
        if "OptimizedModule" in names or any(getattr(each, "_compiled_call_impl", None) for each in model.modules()):
            notes.append("compiled: gradients of one graph become ready together")
        return notes

    def _write(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        seen = [(each, understand(each.log, self._elapsed, self._waits_known)) for each in self._recorded]
        both = [(each, step) for each, step in seen if step is not None]
        if 2 * len(both) <= len(seen):
            raise Unclear(f"{len(both)} of {len(seen)} steps have gradients of this model")
        # The first step of several turns has all hooks, which hold it up.
        survey = both[:1] if len(self._turns) > 1 else []
        both = both[len(survey):] or both
        steps, median = [step for _, step in both], statistics.median
        times = {**ready_times(survey), **ready_times(both)}
        gradients = [gradient._replace(ready=median(times[number]))
                     for number, gradient in enumerate(self._gradients) if number in times]
        some = sum(number in times and any(number in each.watched - step.ready.keys() for each, step in both)
                   for number in range(len(self._gradients)))
        forward, backward, update = (median(getattr(step, part) for step in steps)
                                     for part in ("forward", "backward", "update"))
        text = format_workload(self._title, self._source(steps, len(gradients), some), self._batch, forward, backward,
                               gradients, update)
        replace_file(self._out, text)
        elements = sum(each.elements for each in gradients)
        self._finish(f"{self._out} has {len(gradients)} gradients of {elements:,} elements; "
                     f"forward {forward * 1e3:.4g} ms, backward {backward * 1e3:.4g} ms, update {update * 1e3:.4g} ms "
                     f"(median of {len(steps)} steps)")

    def _source(self, steps: list[Step], seen: int, some: int) -> str:
        """How it was recorded, in one line."""
        def ms(get: Callable[[Step], float]) -> str:
            return f"{statistics.median(get(step) for step in steps) * 1e3:.4g} ms"

        whole = [step.forward + step.backward + step.update + step.waited for step in steps]
        on = torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else \
            f"{torch.get_num_threads()} threads of {processor()}"
        notes = [f"hbench_recorder {__version__}, PyTorch {torch.__version__}, {on}",
                 f"median of {len(steps)} steps after {self._warmup}, of {min(whole) * 1e3:.4g} to "
                 f"{max(whole) * 1e3:.4g} ms",
                 f"{ms(lambda step: step.called)} before the model was called are in the forward pass", *self._notes]
        if self._world > 1:
            notes.append(f"{ms(lambda step: step.waited)} of waiting after the backward pass are left out")
        if len(self._turns) > 1:
            notes.append(f"each gradient in one of {len(self._turns)} steps")
        passes = statistics.median(step.passes for step in steps)
        if passes > 1:
            notes.append(f"{passes:g} backward passes a step: all before the one with the final gradients is in the "
                         "forward pass")
        if seen < len(self._gradients):
            notes.append(f"{len(self._gradients) - seen} of {len(self._gradients)} parameters got no gradient and are "
                         "left out")
        if some:
            notes.append(f"{some} parameters had a gradient in some of the steps")
        return "; ".join(notes)


def inert() -> Recorder:
    """One that records nothing."""
    recorder = Recorder.__new__(Recorder)
    recorder._finished = True
    return recorder


class Kept:
    """Keeps the node of a gradient alive, which has its hook, as long as the hook is wanted."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def remove(self) -> None:
        self._node = None
