"""Which kernels XLA:CPU gives to its library and what these take in: XLA's `dot-library-rewriter`, in its order, on the unchanged graph.

Products, convolutions and reductions start a kernel, from the result upwards. A reduction's kernel takes its neighbours in: an operand that
nothing else reads, or the one reader of its result, as long as the library computes it. Source:
xla/backends/cpu/transforms/library_rewriter.cc.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from xla_explorer.compiler.xla_library import support as library
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_UP, _DOWN = "up", "down"


class LibraryKernel:
    """A kernel of the library in the making. start: what it was made for; root: what it returns; members: in the order they came."""

    def __init__(self, start: HloInstruction) -> None:
        self.start = self.root = start
        self.members: dict[HloInstruction, None] = {start: None}

    def operands(self) -> list[HloInstruction]:
        """What it reads."""
        return list(
            dict.fromkeys(
                [o for member in self.members for o in member.operands if o not in self.members]
            )
        )


class Neighbour(NamedTuple):
    """An instruction beside a library kernel that stays outside, with the reason."""

    instruction: HloInstruction
    kernel: LibraryKernel
    reason: Reason


class LibraryPlan:
    """The library kernels of one computation.

    Attributes
    ----------
    kernels : list of LibraryKernel
        In the order in which XLA makes them.
    refused : dict
        Product, convolution or reduction that XLA computes itself -> why.
    outside : list of Neighbour
        What a kernel that takes neighbours in did not take.
    """

    def __init__(self, computation: HloComputation) -> None:
        self.kernels: list[LibraryKernel] = []
        self.refused: dict[HloInstruction, Reason] = {}
        self.outside: list[Neighbour] = []
        self._of: dict[HloInstruction, LibraryKernel] = {}
        for i in reversed(computation.post_order()):
            if not library.starts_library_kernel(i) or i in self._of:
                continue
            reason = library.refusal(i)
            if reason is not None:
                self.refused[i] = reason
                continue
            kernel = LibraryKernel(i)
            self._of[i] = kernel
            self.kernels.append(kernel)
            if library.grows(i):
                while self._grow(kernel):
                    pass
                self.outside += self._left_out(kernel)

    def _grow(self, kernel: LibraryKernel) -> bool:
        """Take in what can be reached now; whether that was anything."""
        queue: deque[tuple[HloInstruction, str]] = deque()
        seen: set[HloInstruction] = set()
        self._add(queue, seen, [o for o in kernel.operands() if self._read_by(o, kernel)], _UP)
        self._add(queue, seen, self._only_reader(kernel), _DOWN)
        changed = False
        while queue:
            i, way = queue.popleft()
            if (other := self._of.get(i)) is not None:
                self._merge(kernel, other, way)
                changed = True
                continue
            if library.refusal(i) is not None:
                continue
            changed = True
            self._of[i] = kernel
            kernel.members[i] = None
            if way == _UP:
                self._add(queue, seen, [o for o in i.operands if self._read_by(o, kernel)], _UP)
            else:
                kernel.root = i
                self._add(queue, seen, self._only_reader(kernel), _DOWN)
        return changed

    def _add(
        self,
        queue: deque[tuple[HloInstruction, str]],
        seen: set[HloInstruction],
        found: Iterable[HloInstruction],
        way: str,
    ) -> None:
        for i in found:
            if i not in seen:
                seen.add(i)
                queue.append((i, way))

    def _merge(self, kernel: LibraryKernel, other: LibraryKernel, way: str) -> None:
        """Make two library kernels one."""
        kernel.members.update(other.members)
        self._of.update(dict.fromkeys(other.members, kernel))
        self.kernels.remove(other)
        if way == _DOWN:
            kernel.root = other.root

    @staticmethod
    def _read_by(operand: HloInstruction, kernel: LibraryKernel) -> bool:
        """Whether nothing outside the kernel reads it."""
        return (
            operand not in kernel.members
            and not operand.is_root
            and all(user in kernel.members for user in operand.users)
        )

    @staticmethod
    def _only_reader(kernel: LibraryKernel) -> list[HloInstruction]:
        return list(kernel.root.users) if len(kernel.root.users) == 1 else []

    def _left_out(self, kernel: LibraryKernel) -> list[Neighbour]:
        found = []
        start, root = kernel.start.name, kernel.root.name
        for operand in kernel.operands():
            if operand.opcode.name == "parameter":
                continue
            if operand in self._of:
                reason: Reason | None = refuse(
                    "library-kernel-already", f"%{operand.name} is in a library kernel already"
                )
            elif not self._read_by(operand, kernel):
                reason = refuse(
                    "library-other-readers",
                    f"%{operand.name} is read outside of the library kernel of %{start} too",
                )
            else:
                reason = library.refusal(operand)
            if reason is not None:
                found.append(Neighbour(operand, kernel, reason))
        readers = list(kernel.root.users)
        for reader in readers:
            if len(readers) > 1:
                reason = refuse(
                    "library-several-readers",
                    f"%{root} has {len(readers)} readers; a library kernel has one result",
                )
            elif reader in self._of:
                reason = refuse(
                    "library-kernel-already", f"%{reader.name} is in a library kernel already"
                )
            else:
                reason = library.refusal(reader)
            if reason is not None:
                found.append(Neighbour(reader, kernel, reason))
        return found
