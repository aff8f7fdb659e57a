"""Runs a command on this machine, with one actor for each bundle of a Ray placement group as the hosts of its mpirun:

    python3 hbench_ray.py --tasks 2 --slots 4 -- hbench sweep --gpus 1..8

It runs where a node of the Ray cluster does (`ray start`, or RAY_ADDRESS). Each bundle has SLOTS CPUs, on a node of its
own where nodes are enough. All else is as in hbench_spark.py; hbench_driver.py has the exit codes.
"""

import sys

sys.dont_write_bytecode = True  # the installation belongs to somebody else

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

import hbench_driver
from hbench_driver import Invitation, Wanted
from hbench_hosts import HERE


@ray.remote(num_cpus=0)
class Host:
    def serve(self, invitation: tuple, index: int) -> None:
        from hbench_keeper import be_host

        be_host(*invitation, index, [])


def start_tasks(wanted: Wanted, invitation: Invitation) -> None:
    """Starts the actors and returns when they have ended."""
    group = placement_group([{"CPU": wanted.slots}] * wanted.tasks, strategy="SPREAD")
    ray.get(group.ready(), timeout=wanted.start_limit)
    bundles = [PlacementGroupSchedulingStrategy(group, index) for index in range(wanted.tasks)]
    hosts = [Host.options(scheduling_strategy=bundle).remote() for bundle in bundles]
    running = [host.serve.remote(tuple(invitation), index) for index, host in enumerate(hosts)]
    while running:
        ended, running = ray.wait(running)
        ray.get(ended)


def main(words: list) -> int:
    options = hbench_driver.parse_arguments(words, slots="1")
    slots = options.slots or 1
    wanted = Wanted(options.tasks, slots, options.command, options.timeout, options.time_limit)
    ray.init(address="auto", runtime_env={"working_dir": HERE}, logging_level="ERROR", log_to_driver=False)
    here = ray.util.get_node_ip_address()
    return hbench_driver.run(
        wanted,
        free=lambda: int(ray.available_resources().get("CPU", 0)) // slots,
        cure=f"start more nodes (ray start), or ask for fewer; each takes {slots} CPUs",
        start=lambda invitation: start_tasks(wanted, invitation),
        host=here,
        bind=here,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
