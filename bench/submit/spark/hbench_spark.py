"""Runs a command on the driver of a Spark application, with tasks of a barrier stage as the hosts of its mpirun:

    spark-submit --master spark://HOST:7077 --conf spark.executor.cores=4 --conf spark.task.cpus=4 \\
      --conf spark.cores.max=8 hbench_spark.py --tasks 2 --slots 4 -- hbench sweep --gpus 1..8

`hbench submit --engine spark` writes this line. Several tasks may be on one host, which then has the slots of all.
hbench and Open MPI are installed on all hosts, in the same places. Works with PySpark 3.4 to 4, in client mode: the
command, its database and its terminal are where spark-submit is. hbench_driver.py has the exit codes.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import Callable, Iterator

sys.dont_write_bytecode = True  # the installation belongs to somebody else

import hbench_driver
from hbench_driver import Invitation, Wanted, say
from hbench_hosts import HERE

# A task that is lost is not started again: mpirun has no use for a second one.
SETTINGS = {
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.speculation": "false",
    # Barrier stages do not work with it.
    "spark.dynamicAllocation.enabled": "false",
    # What a task leaves in a worker process ends with the task.
    "spark.python.worker.reuse": "false",
}


def free_slots(context) -> int:
    """How many tasks Spark could run at the same time on the executors that it has so far: the number by which it
    refuses barrier stages, after ten minutes."""
    spark = context._jsc.sc()
    return spark.maxNumConcurrentTasks(spark.resourceProfileManager().defaultResourceProfile())


def start_tasks(context, tasks: int) -> Callable[[Invitation], object]:
    """What starts the barrier stage, and returns when its tasks have ended."""

    def host(address: tuple[str, int], token: str, index: int) -> Iterator[int]:
        # On an executor, where of this file there is only this function.
        from pyspark import TaskContext

        from hbench_keeper import be_host

        gpus = TaskContext.get().resources().get("gpu")
        be_host(address, token, index, gpus.addresses if gpus else [])
        yield index

    def start(invitation: Invitation) -> object:
        address, token = invitation
        stage = context.parallelize(range(tasks), tasks).barrier()
        return stage.mapPartitionsWithIndex(lambda index, _: host(address, token, index)).collect()

    return start


def run(context, options: argparse.Namespace) -> int:
    settings = context.getConf()
    cores = int(settings.get("spark.task.cpus", "1"))
    wanted = Wanted(options.tasks, options.slots or cores, options.command, options.timeout, options.time_limit)
    cure = (
        f"start more Spark workers, stop other applications, or ask for fewer; an executor needs {cores} cores for "
        "a task (spark.executor.cores, spark.task.cpus)"
    )
    context.addPyFile(os.path.join(HERE, "hbench_keeper.py"))
    # Where executors dial the driver, tasks can.
    host = settings.get("spark.driver.host").strip("[]")
    bind = settings.get("spark.driver.bindAddress", host).strip("[]")
    start = start_tasks(context, options.tasks)
    return hbench_driver.run(wanted, lambda: free_slots(context), cure, start, host, bind)


def leave(context, code: int) -> None:
    """Ends the process, though Spark may still wait for an executor that is gone."""
    stopping = threading.Thread(target=context.stop, daemon=True)
    stopping.start()
    stopping.join(10)
    sys.stdout.flush()
    os._exit(code)


def main(words: list[str]) -> None:
    options = hbench_driver.parse_arguments(words, slots="spark.task.cpus")
    from pyspark import SparkConf, SparkContext

    settings = SparkConf()
    for name, value in SETTINGS.items():
        settings.set(name, value)
    settings.setIfMissing("spark.app.name", "hbench")
    try:
        context = SparkContext(conf=settings)
    except Exception as error:
        say(f"Spark does not start: {hbench_driver.reason_of(error)}")
        sys.exit(hbench_driver.ENVIRONMENT)
    context.setLogLevel("ERROR")
    code = hbench_driver.ENVIRONMENT
    try:
        code = run(context, options)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        say(f"Spark failed: {hbench_driver.reason_of(error)}")
    leave(context, code)


if __name__ == "__main__":
    main(sys.argv[1:])
