"""Several virtual devices in one process, their rendezvous, and errors for missing devices.

Each device runs in its own thread with its own evaluator; a `World` holds the exchanged values.
Device number = replica * partitions + partition, as in XLA's default device assignment. A waiting
device fails at once if no device can proceed, else after `timeout` seconds. The error names the
missing devices and the place of each device.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator.devices.beside import run_beside
from xla_explorer.hlo.evaluator.registry import EvaluationError, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.module import HloModule

DEFAULT_TIMEOUT = 60.0
# Seconds between two checks of the timeout by a waiting device, and of a failure by the caller.
_LONGEST_WAIT = 1.0
# Seconds for the other devices of a failed run to end.
_GRACE = 5.0


class RendezvousError(EvaluationError):
    """Some devices of a rendezvous are missing. `missing`: their numbers."""

    def __init__(self, message: str, missing: tuple[int, ...] = ()) -> None:
        super().__init__(
            message,
            "see that every device of a group runs the same collectives, in the same order and "
            "equally often",
        )
        self.missing = missing


class AbandonedError(Exception):
    """Ends the thread of a device because another one has failed; never leaves `World.run`."""


def prepare(module: HloModule) -> None:
    """Compute the orders of all computations, so that the device threads only read the module."""
    for computation in module.computations.values():
        computation.post_order()


class Device:
    """One virtual device: its number, replica and partition, and its visits of each rendezvous."""

    __slots__ = ("changed", "gate", "number", "partition", "replica", "visits", "world")

    def __init__(self, world: World, number: int, lock: threading.Lock) -> None:
        self.world = world
        self.number = number
        self.replica, self.partition = divmod(number, world.partitions)
        self.visits: dict[Any, int] = {}
        self.changed = threading.Condition(lock)
        self.gate = threading.Lock()  # held while the device runs; released to wake it in `meet`
        self.gate.acquire()

    def __repr__(self) -> str:
        return f"device {self.number} (replica {self.replica}, partition {self.partition})"


class _Wait:
    """The reason a device waits: `ready` returns whether it may proceed, `missing` its partners.

    gate: released to wake the device, which then holds no lock; None: it waits on its condition.
    """

    __slots__ = ("gate", "missing", "place", "ready")

    def __init__(
        self,
        place: str,
        ready: Callable[[], bool],
        missing: Callable[[], tuple[int, ...]],
        gate: Any = None,
    ) -> None:
        self.place = place
        self.ready = ready
        self.missing = missing
        self.gate = gate


class _Meeting:
    """The contributions at one rendezvous, and the result of its action."""

    __slots__ = ("contributions", "is_done", "result")

    def __init__(self) -> None:
        self.contributions: dict[int, Any] = {}
        self.is_done = False
        self.result: Any = None


class World:
    """The devices of one run and their exchanges.

    timeout: seconds that a device waits for others.
    """

    def __init__(
        self, replicas: int = 1, partitions: int = 1, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        self.replicas = replicas
        self.partitions = partitions
        self.timeout = timeout
        self._lock = threading.Lock()
        self.devices = tuple(
            [Device(self, number, self._lock) for number in range(replicas * partitions)]
        )
        self.failure: BaseException | None = None
        self._meetings: dict[tuple[Any, int], dict[int, Value]] = {}
        self._open: dict[tuple[Any, int], _Meeting] = {}
        self._leavers: dict[tuple[Any, int], int] = {}
        self._channels: dict[Any, deque[Value]] = {}
        self._waiting: dict[int, _Wait] = {}
        self._finished: set[int] = set()

    def run(self, function: Callable[[Device], Any]) -> list[Any]:
        """Return the function's result for each device, each in its own thread.

        An error on one device ends the run.
        """
        results: list[Any] = [None] * len(self.devices)
        left, failed = len(self.devices), dict[int, BaseException]()
        ended, alone = threading.Lock(), threading.Lock()
        ended.acquire()

        def one(device: Device) -> None:
            nonlocal left
            try:
                results[device.number] = function(device)
            except AbandonedError:
                pass
            except BaseException as problem:  # any exception ends the run, and is raised below
                if len(self.devices) > 1:
                    _name_device(problem, device)
                failed[device.number] = problem
                self.fail(problem)
            else:
                self.finish(device)
            finally:
                with alone:
                    left -= 1
                    if not left:
                        ended.release()

        try:
            for device in self.devices:
                run_beside(partial(one, device), f"xla-explorer-{device!r}")
            while not ended.acquire(timeout=_LONGEST_WAIT):
                if self.failure is not None:
                    ended.acquire(timeout=_GRACE)
                    break
        except BaseException as problem:  # an interrupt ends the devices too
            self.fail(problem)
            raise
        if self.failure is None:
            return results
        # Several devices may fail at once: the first number's error does not depend on the order.
        raise failed[min(failed)] if self.failure in failed.values() else self.failure

    def exchange(
        self,
        device: Device,
        place: Any,
        contribution: Value,
        needed: Sequence[int],
        attendance: int,
        description: str,
    ) -> dict[int, Value]:
        """Add a contribution and return those of the devices `needed`, by device number.

        place: identifies the rendezvous; the k-th visit of one device meets the k-th visits of the
        others. attendance: the number of devices at one rendezvous, after which its state is
        dropped.
        """
        key = self._visit(device, place)
        with self._lock:
            meeting = self._meetings.setdefault(key, {})
            meeting[device.number] = contribution
            self._wake()
            self._wait(
                device,
                description,
                lambda: all(n in meeting for n in needed),
                lambda: tuple([n for n in needed if n not in meeting]),
            )
            taken = {n: meeting[n] for n in needed}
            leavers = self._leavers[key] = self._leavers.get(key, 0) + 1
            if leavers >= attendance:
                del self._meetings[key], self._leavers[key]
            return taken

    def meet(
        self,
        device: Device,
        place: Any,
        contribution: Any,
        members: Sequence[int],
        description: str,
        action: Callable[[dict[int, Any]], Any],
    ) -> Any:
        """Wait for all members; return the action's result.

        The last member to arrive runs the action on the contributions, by device number, while the
        others wait. So the action may read and write the memory of all members.
        """
        key = self._visit(device, place)
        with self._lock:
            if self.failure is not None:
                self._abandon()
            meeting = self._open.setdefault(key, _Meeting())
            arrived = meeting.contributions
            arrived[device.number] = contribution
            is_last = len(arrived) == len(members)
            if is_last:
                del self._open[key]
            else:
                self._waiting[device.number] = _Wait(
                    description,
                    lambda: meeting.is_done,
                    lambda: tuple([n for n in members if n not in arrived]),
                    device.gate,
                )
                self._fail_if_stuck()
        if not is_last:
            self._sleep(device)
            return meeting.result
        result = action(arrived)
        with self._lock:
            meeting.result, meeting.is_done = result, True
            self._wake()
        return result

    def _sleep(self, device: Device) -> None:
        """Wait without the lock until the device's gate opens; fail after the timeout."""
        end = time.monotonic() + self.timeout
        while not device.gate.acquire(timeout=min(max(end - time.monotonic(), 0), _LONGEST_WAIT)):
            if time.monotonic() >= end:
                with self._lock:
                    if device.number in self._waiting:
                        self._fail(self._report(device, f"waited {self.timeout:g} s"))
        if self.failure is not None:
            with self._lock:
                self._abandon()

    @staticmethod
    def _visit(device: Device, place: Any) -> tuple[Any, int]:
        """Count a visit of a place by a device; return its key."""
        visit = device.visits.get(place, 0)
        device.visits[place] = visit + 1
        return place, visit

    def put(self, channel: Any, value: Value) -> None:
        """Send on a channel; never waits."""
        with self._lock:
            self._channels.setdefault(channel, deque()).append(value)
            self._wake()

    def take(self, device: Device, channel: Any, source: int | None, description: str) -> Value:
        """Return the next value of a channel, waiting for it.

        source: the sending device, None for any.
        """
        with self._lock:
            queue = self._channels.setdefault(channel, deque())
            others = (
                (source,)
                if source is not None
                else tuple([d.number for d in self.devices if d is not device])
            )
            self._wait(device, description, lambda: bool(queue), lambda: others)
            return queue.popleft()

    def check(self) -> None:
        """Raise AbandonedError if another device has failed.

        Loops call this, so that none outlives the run.
        """
        if self.failure is not None:
            self._abandon()

    def finish(self, device: Device) -> None:
        """Mark the device as finished: it has its result and joins no further rendezvous."""
        with self._lock:
            self._finished.add(device.number)
            self._fail_if_stuck()

    def fail(self, problem: BaseException) -> None:
        """End the run; the first problem is the one reported."""
        with self._lock:
            self._fail(problem)

    def _fail(self, problem: BaseException) -> None:
        if self.failure is None:
            self.failure = problem
        self._wake()

    def _wake(self) -> None:
        """Wake the waiting devices that may proceed, or after a failure all of them."""
        for number, wait in list(self._waiting.items()):
            if self.failure is None and not wait.ready():
                continue
            if wait.gate is None:
                self.devices[number].changed.notify()
            else:
                del self._waiting[number]
                wait.gate.release()

    def _wait(
        self,
        device: Device,
        place: str,
        ready: Callable[[], bool],
        missing: Callable[[], tuple[int, ...]],
    ) -> None:
        if self.failure is not None:
            self._abandon()
        if ready():
            return
        self._waiting[device.number] = _Wait(place, ready, missing)
        self._fail_if_stuck()
        end = time.monotonic() + self.timeout
        while self.failure is None and not ready():
            remaining = end - time.monotonic()
            if remaining <= 0:
                self._fail(self._report(device, f"waited {self.timeout:g} s"))
                break
            device.changed.wait(min(remaining, _LONGEST_WAIT))
        del self._waiting[device.number]
        if self.failure is not None:
            self._abandon()

    def _abandon(self) -> NoReturn:
        """End this device; a single device raises the failure itself and may run again."""
        if len(self.devices) > 1 or self.failure is None:
            raise AbandonedError
        problem, self.failure = self.failure, None
        raise problem

    def _fail_if_stuck(self) -> None:
        """Fail at once if every device has finished or waits for a missing partner."""
        waiting = self._waiting
        if (
            self.failure is not None
            or not waiting
            or len(waiting) + len(self._finished) < len(self.devices)
        ):
            return
        if not any(w.ready() for w in waiting.values()):
            first = self.devices[min(waiting)]
            self._fail(self._report(first, "waits forever"))

    def _report(self, device: Device, what: str) -> RendezvousError:
        wait = self._waiting[device.number]
        missing = wait.missing()
        partners = (
            f"missing: {'; '.join([self._whereabouts(n) for n in missing])}"
            if missing
            else "no device answers"
        )
        return RendezvousError(f"{device!r} {what} at {wait.place}; {partners}", missing)

    def _whereabouts(self, number: int) -> str:
        if not 0 <= number < len(self.devices):
            return f"device {number}, which does not exist"
        if number in self._finished:
            state = "has finished"
        elif number in self._waiting:
            state = f"waits at {self._waiting[number].place}"
        else:
            state = "still runs"
        return f"{self.devices[number]!r} {state}"


def _name_device(problem: BaseException, device: Device) -> None:
    """Add the device to an error's message; a rendezvous error has it already."""
    problem.add_note(f"on {device!r}")
    if isinstance(problem, XlaExplorerError) and not isinstance(problem, RendezvousError):
        problem.message = f"{device!r}: {problem.message}"
