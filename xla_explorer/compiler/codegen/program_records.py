"""Records of a host program: its LLVM module, its steps, and the layout of its argument table."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import module_text
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal


class BufferSlice(NamedTuple):
    """A slice of a buffer: slot of the argument table, byte offset, bytes."""

    slot: int
    offset: int
    size: int


class ProgramRow(NamedTuple):
    """One step of the program: an instruction and its executor.

    runs_on: `kernel`, `library`, `evaluator`, `copy` or `exchange` (a collective of several
    devices). function: name of the LLVM function. reason: why the evaluator or an exchange runs the
    step, or why a library does or does not. refused: strategies tried before (see `dispatch`), with
    their refusals.
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
    """A decision about the kernel of an instruction.

    accepted: True if it was done. reason: for or against it. kind: `parallel` (tasks for several
    threads), `cache-blocking` (blocks that one thread runs one after the other) or
    `loop-vectorization`.
    """

    instruction: int
    name: str
    accepted: bool
    reason: Reason
    kind: str


class EvaluatorStep(NamedTuple):
    """An instruction that the evaluator runs.

    operands, results: their slices, leaf by leaf. record_slot: of a foreign function that native
    code calls; the evaluator only handles what the function returned. is_exchange: a collective of
    several devices, which a run on several devices does in shared memory.
    """

    instruction: HloInstruction
    operands: tuple[tuple[BufferSlice, ...], ...]
    results: tuple[BufferSlice, ...]
    record_slot: int | None = None
    is_exchange: bool = False


class HostProgram(NamedTuple):
    """An LLVM module and the contents of its argument table.

    streaming: functions that write results by non-temporal stores. slots: of the argument table,
    that the entry reads.
    """

    module: LlvmModule
    rows: list[ProgramRow]
    evaluator_steps: list[EvaluatorStep]
    constants: list[Literal]
    constant_slot: int
    arena_slot: int
    callback_slot: int
    counter_slot: int
    scratch_slot: int
    device_slot: int
    scratch_bytes: int
    table_size: int
    symbols: tuple[str, ...]
    functions: dict[str, int]
    constant_data: list[bytes]
    constant_data_slot: int
    threads: int
    decisions: list[KernelDecision]
    streaming: frozenset[str]
    slots: frozenset[int]

    @property
    def text(self) -> str:
        """The module as LLVM IR."""
        return module_text(self.module)

    @property
    def line_count(self) -> int:
        """Lines of the module's text."""
        return self.module.line_count


class ArgumentTable(NamedTuple):
    """The layout of the argument table, an array of pointers that the program receives.

    Parameters start at slot 0, outputs at `output_slot`, constants at `constant_slot`; the rest
    follows. foreign_calls: number of foreign functions with a record. reads_device_number: True if
    the program runs on several devices.
    """

    parameters: int
    output_slot: int
    constant_slot: int
    constants: list[Literal]
    foreign_calls: int = 0
    reads_device_number: bool = False

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
        """The slot of the scratch memory, which kernels use one after the other."""
        return self.arena_slot + 3

    @property
    def foreign_slot(self) -> int:
        """The slot of the first foreign function's record."""
        return self.arena_slot + 4

    @property
    def size(self) -> int:
        """Number of slots."""
        return self.device_slot + self.reads_device_number

    @property
    def device_slot(self) -> int:
        """The slot of the device's numbers: replica and partition as u32."""
        return self.foreign_slot + self.foreign_calls
