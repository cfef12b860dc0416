"""Ways to run tasks: in this process, in child processes, or on an object with `submit`.

Such an object is a `concurrent.futures` executor or a Dask client. Each way yields (number of the
task, row) as rows come. A worker that dies loses only its task, which is tried again.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from xla_explorer.explorer.comparisons.sweep.task import Task, machine, run_task
from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.child_process import ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional

Row = dict[str, Any]
Runner = Callable[[Sequence[Task]], Iterator[tuple[int, Row]]]


class WorkersDoNotStartError(XlaExplorerError):
    """Processes that end before they take a task."""


def lost_row(task: Task, tries: int, how: str = "") -> Row:
    """Return the row of a task whose worker died each time."""
    cause = f", the last time it {how}" if how else ""
    return {
        "module": task.module,
        "option": task.option,
        "key": task.key,
        "status": "crashed",
        "error": f"its worker died {tries} times{cause}; compile it alone to see why",
        **machine(),
    }


def run_in_this_process(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
    """Run the tasks one after the other in this process."""
    for number, task in enumerate(tasks):
        yield number, run_task(task)


def process_runner(workers: int, retries: int) -> Runner:
    """Return a runner with child processes, each with one task at a time.

    The task of a worker that dies is therefore known, and only that task is tried again.
    """

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        if not tasks:
            return
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(len(tasks)):
            waiting.put(number)
        done: queue.SimpleQueue[tuple[int, Row] | BaseException] = queue.SimpleQueue()
        pool = [_Worker(tasks, waiting, done, retries) for _ in range(min(workers, len(tasks)))]
        try:
            pool[0].start()
            for worker in pool:
                worker.thread.start()
            for _ in tasks:
                found = done.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            for worker in pool:
                worker.close()

    return run


class _Worker:
    """One process of a sweep and the thread that waits for it.

    The process ends with the thread, however that ends.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        waiting: queue.SimpleQueue[int],
        done: queue.SimpleQueue[tuple[int, Row] | BaseException],
        retries: int,
    ) -> None:
        self.tasks, self.waiting, self.done, self.retries = tasks, waiting, done, retries
        self.child: MessagingChild | None = None
        self.closed = False
        self.thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Start the process. WorkersDoNotStartError if it ends before its first task."""
        command = child_command(
            "xla_explorer.explorer.comparisons.sweep.worker",
            *options.isolated_imports,
            tied=self.thread.is_alive(),
        )
        self.child = MessagingChild(command, child_environment(**options.environment()))
        try:
            self.child.ask(None, None)
        except ChildEndedError as ended:
            hint = "executor=None needs no processes"
            raise WorkersDoNotStartError(
                f"the processes of the sweep end before they take a task: one {ended}", hint
            ) from None

    def close(self) -> None:
        """End process and thread."""
        self.closed = True
        if self.child is not None:
            self.child.close()

    def _work(self) -> None:
        try:
            while not self.closed:
                number = self.waiting.get_nowait()
                self.done.put((number, self._row(self.tasks[number])))
        except queue.Empty:
            pass
        except BaseException as problem:
            self.done.put(problem)
        finally:
            self.close()

    def _row(self, task: Task) -> Row:
        how = ""
        for _ in range(self.retries + 1):
            if self.child is None or not self.child.alive:
                self.start()
            assert self.child is not None
            try:
                row: Row = self.child.ask(None, task)
                return row
            except ChildEndedError as ended:
                how = str(ended)
                if self.closed:
                    break
        return lost_row(task, self.retries + 1, how)


def _as_completed(futures: dict[Future[Row], int]) -> Iterator[tuple[int, Row | None]]:
    pending = set(futures)
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                yield futures[future], None


def executor_runner(executor: Executor) -> Runner:
    """Return a runner on any `concurrent.futures` executor."""

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        futures = {executor.submit(run_task, task): k for k, task in enumerate(tasks)}
        for number, row in _as_completed(futures):
            yield number, row if row is not None else lost_row(tasks[number], 1)

    return run


def dask_runner(client: Any, retries: int) -> Runner:
    """Return a runner on a `dask.distributed.Client`.

    The tasks of a lost worker go to another; timings on one machine exclude each other.
    """
    as_completed = import_optional("dask.distributed", "sweep").as_completed

    def run(tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
        # Keys by content and call, so that the cluster neither merges equal tasks of two modules
        # nor answers from an earlier sweep.
        futures = client.map(run_task, list(tasks), pure=False, retries=retries)
        numbers = {future.key: k for k, future in enumerate(futures)}
        for future in as_completed(futures):
            number = numbers[future.key]
            # A row whose worker dies before it is fetched is computed again: both calls wait for
            # it, while the status says "lost".
            yield (
                number,
                future.result()
                if future.exception() is None
                else lost_row(tasks[number], retries + 1),
            )

    return run


def choose(executor: Any, retries: int) -> Runner:
    """Return the runner of an executor.

    None or 1: this process. Another number: child processes. Executors and Dask clients by their
    type.
    """
    if executor is None or executor == 1:
        return run_in_this_process
    if isinstance(executor, int):
        return process_runner(executor, retries)
    if isinstance(executor, Executor):
        return executor_runner(executor)
    if type(executor).__module__.startswith("distributed"):
        return dask_runner(executor, retries)
    wanted = "None, a number of processes, a concurrent.futures executor or a Dask client"
    raise TypeError(f"executor: expected {wanted}, got {type(executor).__name__}")
