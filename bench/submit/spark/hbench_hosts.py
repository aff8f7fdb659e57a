"""Tasks of an engine as the hosts of mpirun: who they are, and what Open MPI is told of them."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from typing import Iterable, NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))


class Task:
    """The link to a task of the engine."""

    def __init__(self, hello: dict, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.index: int = hello["index"]
        self.name: str = hello["name"]
        self.machine: str = hello["machine"]
        self.gpus: list[str] = hello["gpus"]
        self.address: str = writer.get_extra_info("peername")[0]
        self.reader, self.writer = reader, writer


class Host(NamedTuple):
    """A machine for mpirun: all tasks on it, of which the first runs its commands."""

    name: str
    slots: int
    tasks: list[Task]

    def environment(self) -> dict[str, str]:
        """Ranks use the GPUs that the engine gave to any of the host's tasks, in the order of their numbers."""
        gpus = sorted({gpu for task in self.tasks for gpu in task.gpus}, key=lambda gpu: (len(gpu), gpu))
        return {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def group_by_host(tasks: Iterable[Task], slots: int) -> list[Host]:
    """Hosts by their machine, named as they name themselves. Where that says nothing (localhost) or two machines have
    the same name, by the address from which they dial: mpirun would take them for itself, or for one."""
    machines: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: task.index):
        machines.setdefault(task.machine, []).append(task)
    names = [group[0].name for group in machines.values()]
    hosts = []
    for group in machines.values():
        name = group[0].name
        if name.startswith("localhost") or names.count(name) > 1:
            name = group[0].address
        hosts.append(Host(name, slots * len(group), group))
    return hosts


def host_file(hosts: Iterable[Host]) -> str:
    return "".join(f"{host.name} slots={host.slots}\n" for host in hosts)


def find_host(hosts: Iterable[Host], name: str) -> Host | None:
    """The host that mpirun means by `name`: Open MPI may leave the domain out."""
    exact = [host for host in hosts if host.name == name]
    short = [host for host in hosts if host.name.partition(".")[0] == name]
    return exact[0] if exact else short[0] if len(short) == 1 else None


def hosts_in_words(hosts: Iterable[Host]) -> str:
    return ", ".join(f"{host.name} ({counted(host.slots, 'slot')})" for host in hosts)


def mpirun_environment(folder: str) -> dict[str, str]:
    """What makes any mpirun (Open MPI 4) below the command use the hosts in `folder`, which has no spaces."""
    return {
        "OMPI_MCA_orte_default_hostfile": folder + "/hosts",
        "OMPI_MCA_plm_rsh_agent": f"sh {folder}/agent",
        # Hosts cannot start commands on each other.
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        # Hosts of two domains may have the same short name.
        "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
    }


def write_files(folder: str, hosts: Iterable[Host]) -> None:
    with open(folder + "/hosts", "w") as file:
        file.write(host_file(hosts))
    # A script, because mpirun splits its agent at spaces, and Python or this file may lie in a folder with one.
    agent = shlex.join([sys.executable, os.path.join(HERE, "hbench_agent.py"), folder + "/socket"])
    with open(folder + "/agent", "w") as file:
        file.write(f'exec {agent} "$@"\n')
