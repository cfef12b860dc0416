"""Several virtual devices in one process: where they meet, and what is said when one of them does not come.

Each device runs in a thread of its own with an evaluator of its own; a `World` holds what they exchange. Device number =
replica * partitions + partition, as in XLA's default device assignment. A device that waits gives up when nobody can move
any more (at once), or after `timeout` seconds; the error names who is missing and where everybody is.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from xla_explorer.hlo.evaluator.registry import EvaluationError, Value

if TYPE_CHECKING:
    from xla_explorer.hlo.module import HloModule

DEFAULT_TIMEOUT = 60.0
# A waiting device looks this often whether the clock has run out, seconds.
_LONGEST_WAIT = 1.0
# Seconds that a failed run leaves its other devices to notice it.
_GRACE = 5.0


class RendezvousError(EvaluationError):
    """Devices that should meet do not. `missing`: their numbers."""

    def __init__(self, message: str, missing: tuple[int, ...] = ()) -> None:
        super().__init__(
            message,
            "see that every device of a group runs the same collectives, in the same order and equally often",
        )
        self.missing = missing


class AbandonedError(Exception):
    """Ends the thread of a device because another one has failed; never leaves `World.run`."""


def prepare(module: HloModule) -> None:
    """Make the orders of all computations, so that the threads of the devices only read the module."""
    for computation in module.computations.values():
        computation.post_order()


class Device:
    """One virtual device: its number, its replica and partition, and how often it came to each meeting place."""

    __slots__ = ("number", "partition", "replica", "visits", "world")

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number
        self.replica, self.partition = divmod(number, world.partitions)
        self.visits: dict[Any, int] = {}

    def __repr__(self) -> str:
        return f"device {self.number} (replica {self.replica}, partition {self.partition})"


class _Wait:
    """Why a device stands still: `ready` tells whether it may go on, `missing` whom it waits for."""

    __slots__ = ("missing", "place", "ready")

    def __init__(
        self, place: str, ready: Callable[[], bool], missing: Callable[[], tuple[int, ...]]
    ) -> None:
        self.place = place
        self.ready = ready
        self.missing = missing


class World:
    """The devices of one run and what they exchange. timeout: seconds that a device waits for the others."""

    def __init__(
        self, replicas: int = 1, partitions: int = 1, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        self.replicas = replicas
        self.partitions = partitions
        self.timeout = timeout
        self.devices = tuple([Device(self, number) for number in range(replicas * partitions)])
        self.failure: BaseException | None = None
        self._changed = threading.Condition()
        self._meetings: dict[tuple[Any, int], dict[int, Value]] = {}
        self._leavers: dict[tuple[Any, int], int] = {}
        self._channels: dict[Any, deque[Value]] = {}
        self._waiting: dict[int, _Wait] = {}
        self._finished: set[int] = set()

    def run(self, function: Callable[[Device], Any]) -> list[Any]:
        """What a function returns for each device, each in a thread of its own. An error on one device ends the run."""
        results: list[Any] = [None] * len(self.devices)

        def one(device: Device) -> None:
            try:
                results[device.number] = function(device)
            except AbandonedError:
                return
            except (
                BaseException
            ) as problem:  # whatever ends one device ends the run, and is raised below
                if len(self.devices) > 1:
                    problem.add_note(f"on {device!r}")
                self.fail(problem)
            else:
                self.finish(device)

        threads = [
            threading.Thread(target=one, args=(d,), name=f"xla-explorer-{d!r}", daemon=True)
            for d in self.devices
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and self.failure is None:
                    thread.join(0.5)
        except BaseException as problem:  # an interrupt ends the devices too
            self.fail(problem)
            raise
        if self.failure is not None:
            for thread in threads:
                thread.join(_GRACE)
            raise self.failure
        return results

    # -- exchanges ----------------------------------------
    def exchange(
        self,
        device: Device,
        place: Any,
        contribution: Value,
        needed: Sequence[int],
        attendance: int,
        description: str,
    ) -> dict[int, Value]:
        """Lay down a contribution and take those of the devices `needed`, by device number, once they are there.

        place: names the meeting; the k-th visit of one device meets the k-th visits of the others. attendance: how many
        devices come to one meeting in all, after which it is forgotten.
        """
        visit = device.visits.get(place, 0)
        device.visits[place] = visit + 1
        key = (place, visit)
        with self._changed:
            meeting = self._meetings.setdefault(key, {})
            meeting[device.number] = contribution
            self._changed.notify_all()
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

    def put(self, channel: Any, value: Value) -> None:
        """Send on a channel; never waits."""
        with self._changed:
            self._channels.setdefault(channel, deque()).append(value)
            self._changed.notify_all()

    def take(self, device: Device, channel: Any, source: int | None, description: str) -> Value:
        """The next value of a channel, once somebody has sent one. source: the device it comes from, None for any."""
        with self._changed:
            queue = self._channels.setdefault(channel, deque())
            others = (
                (source,)
                if source is not None
                else tuple([d.number for d in self.devices if d is not device])
            )
            self._wait(device, description, lambda: bool(queue), lambda: others)
            return queue.popleft()

    # -- the life of a device ----------------------------------------
    def check(self) -> None:
        """AbandonedError when another device has failed. Loops call this, so that none outlives the run."""
        if self.failure is not None:
            self._abandon()

    def finish(self, device: Device) -> None:
        """The device has its result and comes to no further meeting."""
        with self._changed:
            self._finished.add(device.number)
            self._fail_if_stuck()
            self._changed.notify_all()

    def fail(self, problem: BaseException) -> None:
        """End the run; the first problem is the one reported."""
        with self._changed:
            if self.failure is None:
                self.failure = problem
            self._changed.notify_all()

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
                self.failure = self._report(device, f"waited {self.timeout:g} s")
                self._changed.notify_all()
                break
            self._changed.wait(min(remaining, _LONGEST_WAIT))
        del self._waiting[device.number]
        if self.failure is not None:
            self._abandon()

    def _abandon(self) -> NoReturn:
        """End this device. One that is alone has no other that would report the failure, and may run again."""
        if len(self.devices) > 1 or self.failure is None:
            raise AbandonedError
        problem, self.failure = self.failure, None
        raise problem

    def _fail_if_stuck(self) -> None:
        """Every device has finished or waits for what no running device can bring: an error now, not at the timeout."""
        waiting = self._waiting
        if (
            self.failure is not None
            or not waiting
            or len(waiting) + len(self._finished) < len(self.devices)
        ):
            return
        if not any(w.ready() for w in waiting.values()):
            first = self.devices[min(waiting)]
            self.failure = self._report(first, "waits forever")
            self._changed.notify_all()

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
