"""What `HostProgramWriter` makes and is told: a program as LLVM IR text, its steps, and the layout of the table of pointers."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal


class BufferSlice(NamedTuple):
    """A slice as (table slot, byte offset, bytes)."""

    slot: int
    offset: int
    size: int


class ProgramRow(NamedTuple):
    """One step of the program, for tables: an instruction and how it runs (`kernel`, `library`, `evaluator`, `copy`).

    function: name of the LLVM function. reason: why it runs on the evaluator, or why by a library
    or not. refused: the other ways that were asked before (see `placement`), with what they said.
    """

    number: int
    instruction: int
    name: str
    opcode: str
    runs_on: str
    function: str
    reason: Reason | None
    refused: tuple[tuple[str, Reason], ...] = ()


class KernelDecision(NamedTuple):
    """What was decided for the kernel of an instruction.

    accepted: whether it was done; the reason says why not, or what spoke for it.

    kind: `parallel` (tasks for several threads), `cache-blocking` (parts that one thread does one
    after the other), `loop-vectorization`.
    """

    instruction: int
    name: str
    accepted: bool
    reason: Reason
    kind: str


class EvaluatorStep(NamedTuple):
    """An instruction that runs on the evaluator: its operands' and results' places, leaf by leaf.

    record_slot: of a foreign function, which native code calls; what it returned is looked at here.
    """

    instruction: HloInstruction
    operands: tuple[tuple[BufferSlice, ...], ...]
    results: tuple[BufferSlice, ...]
    record_slot: int | None = None


class HostProgram(NamedTuple):
    """LLVM IR text of a module and what its table must hold.

    streaming: functions that write results past the caches.
    """

    lines: list[str]
    origins: list[int | None]
    rows: list[ProgramRow]
    evaluator_steps: list[EvaluatorStep]
    constants: list[Literal]
    constant_slot: int
    arena_slot: int
    callback_slot: int
    counter_slot: int
    scratch_slot: int
    scratch_bytes: int
    table_size: int
    symbols: tuple[str, ...]
    functions: dict[str, int]
    tables: list[bytes]
    first_table_slot: int
    threads: int
    decisions: list[KernelDecision]
    streaming: frozenset[str]

    @property
    def text(self) -> str:
        """The whole IR module."""
        return "\n".join(self.lines) + "\n"


class HostTable(NamedTuple):
    """Which table slot holds what: parameters from 0, outputs from output_slot, constants from constant_slot, then the rest.

    foreign_calls: of how many foreign functions there is a record.
    """

    parameters: int
    output_slot: int
    constant_slot: int
    constants: list[Literal]
    foreign_calls: int = 0

    @property
    def arena_slot(self) -> int:
        """The slot of the arena's address."""
        return self.constant_slot + len(self.constants)

    @property
    def callback_slot(self) -> int:
        """The slot of the evaluator callback."""
        return self.arena_slot + 1

    @property
    def counter_slot(self) -> int:
        """The slot of the instrumentation's counters."""
        return self.arena_slot + 2

    @property
    def scratch_slot(self) -> int:
        """The slot of the memory that kernels use while they run, one after the other."""
        return self.arena_slot + 3

    @property
    def foreign_slot(self) -> int:
        """The slot of the first foreign function's record."""
        return self.arena_slot + 4

    @property
    def size(self) -> int:
        """Number of slots."""
        return self.foreign_slot + self.foreign_calls
