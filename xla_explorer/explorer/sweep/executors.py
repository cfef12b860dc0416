"""Ways to run tasks: here, in a pool of processes, or on whatever has `submit` (a `concurrent.futures` executor, a Dask client).

Each yields (number of the task, row) as rows come. A worker that dies takes nothing with it but its task, which is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from xla_explorer.explorer.sweep.task import Task, machine, run_task
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional

Row = dict[str, Any]
Runner = Callable[[Sequence[Task]], Iterator[tuple[int, Row]]]


class WorkersDoNotStartError(XlaExplorerError):
    """Processes that end before they take a task."""


def lost_row(task: Task, tries: int) -> Row:
    """The row of a task whose worker died each time."""
    return {"module": task.module, "option": task.option, "key": task.key, "status": "crashed",
            "error": f"its worker died {tries} times; compile it alone to see why", **machine()}


def here(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
    """One after the other in this process."""
    for number, task in enumerate(tasks):
        yield number, run_task(task)


def in_processes(workers: int, retries: int) -> Runner:
    """A pool of fresh processes; a broken pool is replaced, and what it had not finished is tried again one by one."""

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        tries = [0] * len(tasks)
        left = list(range(len(tasks)))
        started = False
        while left:
            # After a crash one worker at a time: so the task that kills is told from those that only stood beside it.
            alone = any(tries)
            batch = left[:1] if alone and tries[left[0]] else left
            with ProcessPoolExecutor(1 if alone else workers, mp_context=get_context("spawn")) as pool:
                if not started:
                    _wait_for_a_worker(pool)
                    started = True
                futures = {pool.submit(run_task, tasks[k]): k for k in batch}
                for number, row in _as_completed(futures):
                    if row is None:
                        tries[number] += 1
                        if tries[number] > retries and alone:
                            left.remove(number)
                            yield number, lost_row(tasks[number], tries[number])
                    else:
                        left.remove(number)
                        yield number, row
            left.sort(key=lambda k: (-tries[k], k))

    return run


def _wait_for_a_worker(pool: ProcessPoolExecutor) -> None:
    """A worker reads the main script again; a script that sweeps at its top level would sweep in each worker, which Python ends."""
    try:
        pool.submit(int).result()
    except BrokenProcessPool:
        hint = "in a script, put the sweep under `if __name__ == '__main__':`; executor=None needs no processes"
        raise WorkersDoNotStartError("the processes of the sweep end before they take a task", hint) from None


def _as_completed(futures: dict[Future[Row], int]) -> Iterator[tuple[int, Row | None]]:
    pending = set(futures)
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                yield futures[future], None


def on_executor(executor: Executor) -> Runner:
    """Any `concurrent.futures` executor."""

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        futures = {executor.submit(run_task, task): k for k, task in enumerate(tasks)}
        for number, row in _as_completed(futures):
            yield number, row if row is not None else lost_row(tasks[number], 1)

    return run


def on_dask(client: Any, retries: int) -> Runner:
    """A `dask.distributed.Client`: the tasks of a worker that is lost go to another; timings on one machine exclude each other."""
    as_completed = import_optional("dask.distributed", "sweep").as_completed

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        # Keys by content and call, so that the cluster neither merges equal tasks of two modules nor answers from an earlier sweep.
        futures = client.map(run_task, list(tasks), pure=False, retries=retries)
        numbers = {future.key: k for k, future in enumerate(futures)}
        for future in as_completed(futures):
            number = numbers[future.key]
            yield number, future.result() if future.status == "finished" else lost_row(tasks[number], retries + 1)

    return run


def choose(executor: Any, retries: int) -> Runner:
    """None or 1: here. A number: so many processes. Executors and Dask clients by what they are."""
    if executor is None or executor == 1:
        return here
    if isinstance(executor, int):
        return in_processes(executor, retries)
    if isinstance(executor, Executor):
        return on_executor(executor)
    if type(executor).__module__.startswith("distributed"):
        return on_dask(executor, retries)
    wanted = "None, a number of processes, a concurrent.futures executor or a Dask client"
    raise TypeError(f"executor: expected {wanted}, got {type(executor).__name__}")
