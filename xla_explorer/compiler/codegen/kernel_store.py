"""Kernels that earlier programs of this process wrote, for programs with equal instructions.

A kernel depends on the operations of its instruction, their shapes and literals, the target, the
aliasing of its arrays, and the number of tasks. It does not depend on names or ids. Its lines have
ids, which are replaced by those of the program at hand. The reason for opaque code has names, and
such a kernel is used for instructions of these names only.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.codegen.ir.records import Body, Line
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.structural_keys import order_from_root, without_sharding
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal

MOST_LINES = 200_000  # of all stored kernels: about 60 MB
MOST_BYTES = 4096  # of a literal or of constant data: a key and a kernel keep them


class KernelOfProgram(NamedTuple):
    """An instruction as a key.

    key: equal for equal operations. members: the instruction, its operands, and the instructions of
    its computations, in an order that only the operations determine.
    """

    key: Hashable
    members: Sequence[HloInstruction]


def kernel_of_program(i: HloInstruction) -> KernelOfProgram | None:
    """Return the key of an instruction; None with a large literal."""
    members: list[HloInstruction] = []
    first = {o: k for k, o in reversed(list(enumerate(i.operands)))}
    own = _structure(i, members)
    operands = tuple(
        [(first[o], o.opcode, o.shape, _literal(o)) for o in i.operands]
    )  # a kernel computes its constant operands
    members += i.operands
    is_large = any(
        isinstance(x.payload, Literal) and x.payload.shape.byte_size > MOST_BYTES for x in members
    )
    return None if is_large else KernelOfProgram((own, operands), members)


def _literal(i: HloInstruction) -> Hashable:
    """Return the value of a small literal."""
    if not isinstance(i.payload, Literal):
        return None
    return i.payload.key if i.payload.shape.byte_size <= MOST_BYTES else i.id


def _structure(i: HloInstruction, members: list[HloInstruction]) -> tuple[Any, ...]:
    """Return what must be equal besides operands; add the instruction and those that it calls."""
    members.append(i)
    payload = _literal(i) if isinstance(i.payload, Literal) else i.payload
    called = tuple([_rows(c, members) for c in i.called])
    return i.opcode, i.shape, without_sharding(i.attributes), payload, called


def _rows(computation: HloComputation, members: list[HloInstruction]) -> tuple[Any, ...]:
    order = order_from_root(computation)
    place = {i: number for number, i in enumerate(order)}
    rows = [(_structure(i, members), tuple([place[o] for o in i.operands])) for i in order]
    return (place[computation.root], *rows)


class _Stored(NamedTuple):
    made: Kernel
    ids: tuple[int, ...]
    names: tuple[str, ...]

    def is_about_others(self, members: Sequence[HloInstruction]) -> bool:
        """Return True if the reason for opaque code names instructions of other names."""
        return isinstance(self.made.nest, Reason) and self.names != tuple([i.name for i in members])


class KernelStore:
    """Kernels by everything that determines them. The least recently used are dropped."""

    def __init__(self, most_lines: int = MOST_LINES) -> None:
        self.most_lines = most_lines
        self.lines = 0
        self._kernels: OrderedDict[Hashable, _Stored] = OrderedDict()
        self.renew_lock()

    def renew_lock(self) -> None:
        """Make a lock that no other thread holds, in a forked child."""
        self._lock = threading.Lock()

    def get(self, key: Hashable, members: Sequence[HloInstruction]) -> Kernel | None:
        """Return a kernel, with the ids of these instructions."""
        with self._lock:
            found = self._kernels.get(key)
            if found is None or found.is_about_others(members):
                return None
            self._kernels.move_to_end(key)
        return _translated(found, members)

    def put(self, key: Hashable, members: Sequence[HloInstruction], made: Kernel) -> None:
        """Store a kernel. One with much constant data is not stored."""
        if sum(map(len, made.constant_data)) > MOST_BYTES:
            return
        row = _Stored(made, tuple([i.id for i in members]), tuple([i.name for i in members]))
        with self._lock:
            previous = self._kernels.pop(key, None)
            self._kernels[key] = row
            self.lines += len(made.body) - (len(previous.made.body) if previous else 0)
            while self.lines > self.most_lines and len(self._kernels) > 1:
                _, dropped = self._kernels.popitem(last=False)
                self.lines -= len(dropped.made.body)


KERNELS = KernelStore()
"""The kernels of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=KERNELS.renew_lock)


def _translated(stored: _Stored, members: Sequence[HloInstruction]) -> Kernel:
    """Return a stored kernel with the ids of another program's instructions."""
    made, now = stored.made, [i.id for i in members]
    if stored.ids == tuple(now):
        return made
    ids = dict(zip(stored.ids, now, strict=True))
    body = Body([_with_origin(record, ids, now[0]) for record in made.body])
    body.printed = made.body.printed
    return made._replace(body=body)


def _with_origin(record: Line, ids: Mapping[int, int], otherwise: int) -> Line:
    """Return a line with the origin in another program. Every line has its origin last."""
    origin = record[-1]
    if origin is None:
        return record
    return type(record)._make((*record[:-1], ids.get(origin, otherwise)))
