"""XLA's `dot-library-rewriter`: the kernels that XLA:CPU gives to its library, and their members.

Products, convolutions and reductions start a kernel, in XLA's order, from the result upwards, on
the unchanged graph. The kernel of a reduction absorbs operands that nothing else reads and the
single reader of its result, if the library computes them. Source:
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
    """A kernel of the library under construction.

    start: its first instruction; root: its result; members: in the order of absorption.
    """

    def __init__(self, start: HloInstruction) -> None:
        self.start = self.root = start
        self.members: dict[HloInstruction, None] = {start: None}

    def operands(self) -> list[HloInstruction]:
        """Return the values that it reads."""
        return list(
            dict.fromkeys(
                [o for member in self.members for o in member.operands if o not in self.members]
            )
        )


class Neighbour(NamedTuple):
    """An instruction next to a library kernel that stays outside, with the reason."""

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
        Product, convolution or reduction that XLA computes itself -> the reason.
    outside : list of Neighbour
        Instructions that an absorbing kernel did not absorb.
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
        """Absorb the instructions that can be reached now; return True if any was absorbed."""
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
        """Merge two library kernels."""
        kernel.members.update(other.members)
        self._of.update(dict.fromkeys(other.members, kernel))
        self.kernels.remove(other)
        if way == _DOWN:
            kernel.root = other.root

    @staticmethod
    def _read_by(operand: HloInstruction, kernel: LibraryKernel) -> bool:
        """Return True if the kernel contains all readers of the operand."""
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
