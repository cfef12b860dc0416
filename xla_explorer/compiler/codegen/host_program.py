"""A whole entry computation as one native function: kernels, loops, conditionals and calls.

The function receives the argument table, an array of pointers: parameter leaves, output leaves,
constants, the arena, then the evaluator callback, the instrumentation's counters and the kernels'
scratch memory. Buffer assignment determines the memory of every value; control flow is emitted
inline. `program_kernels.py` keeps the kernels that the function calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from xla_explorer.compiler.buffers import renames_memory
from xla_explorer.compiler.codegen.cache_blocking import (
    BlockedKernel,
    ChainAccess,
    blocked_kernel,
    count_blocks,
    may_be_blocked,
    pays,
)
from xla_explorer.compiler.codegen.dispatch import LoweringKind, write_kernel
from xla_explorer.compiler.codegen.entry_functions import EntryFunctions
from xla_explorer.compiler.codegen.foreign_calls import foreign_call_function
from xla_explorer.compiler.codegen.ir.llvm_module import SOURCE, LlvmModule
from xla_explorer.compiler.codegen.ir.marks import WHILE, metadata_definitions
from xla_explorer.compiler.codegen.ir.records import Access
from xla_explorer.compiler.codegen.ir.types import I8, I32
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.operation_writer import OperationWriter, PlaceOf
from xla_explorer.compiler.codegen.parallel_plan import cache_blocking_decision
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.codegen.program_records import ArgumentTable, BufferSlice, HostProgram
from xla_explorer.compiler.codegen.vector_math import vector_math_functions
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class HostProgramWriter:
    """Walks the schedule and writes the program."""

    def __init__(
        self,
        module: HloModule,
        kernels: ProgramKernels,
        place_of: PlaceOf,
        layout: ArgumentTable,
        *,
        instrumented: bool = False,
        noalias: bool = False,
    ) -> None:
        """Set up a writer.

        noalias: no two slots of the argument table point to the same memory.
        """
        self.module, self.kernels, self.place_of, self.table = module, kernels, place_of, layout
        self.threads, self.name = kernels.threads, kernels.entry
        self.noalias, self.instrumented = noalias, instrumented
        self.operations = OperationWriter(kernels, place_of, layout, instrumented=instrumented)
        self.w, self.calls = self.operations.w, self.operations.calls
        self.entry = EntryFunctions(self.operations, self.name)

    # -- computations ------------------------------------------------------------------------------
    def computation(self, computation: HloComputation) -> None:
        """Emit every instruction in order, and chains of kernels in blocks of rows."""
        sequence = [i for i in computation.sequence() if not renames_memory(i)]
        chain: list[tuple[HloInstruction, BlockedKernel]] = []
        accesses: list[ChainAccess] = []
        in_chains = self._in_chains(sequence)
        for i in sequence:
            rows = blocked_kernel(i) if i in in_chains else None
            own = self._accesses(i, rows) if rows is not None else []
            if not all(a.is_independent_of(b) for a in own for b in own):
                rows, own = None, []
            if rows is None or not all(a.is_independent_of(b) for a in own for b in accesses):
                self._chain(chain, accesses)
                chain, accesses = [], []
            if rows is None:
                with self.w.from_instruction(i.id):
                    self.instruction(i)
            else:
                chain.append((i, rows))
                accesses += own
            if computation is self.module.entry:
                self.entry.between_steps()
        self._chain(chain, accesses)

    def _in_chains(self, sequence: Sequence[HloInstruction]) -> set[HloInstruction]:
        """Return the kernels that may be parts of chains.

        They are adjacent kernels over rows that access enough memory twice.
        """
        found: set[HloInstruction] = set()
        for may, beside in [
            (may, list(group)) for may, group in itertools.groupby(sequence, self._may_be_blocked)
        ]:
            if may and len(beside) > 1:
                touched = [
                    place
                    for i in beside
                    for place in (*self.operations.operands(i), *self.operations.leaves(i))
                ]
                found.update(beside if pays(touched, self.kernels.target) else ())
        return found

    def _may_be_blocked(self, i: HloInstruction) -> bool:
        if i in self.kernels.scheduled or not any(
            leaf.is_array and leaf.byte_size for _, leaf in i.shape.leaves()
        ):
            return False
        return self.operations.strategy_of(i).kind is LoweringKind.KERNEL and may_be_blocked(i)

    def _accesses(self, i: HloInstruction, rows: BlockedKernel) -> list[ChainAccess]:
        read = [
            ChainAccess(place, follows, False)
            for place, follows in zip(self.operations.operands(i), rows.follows, strict=True)
        ]
        return read + [ChainAccess(place, True, True) for place in self.operations.leaves(i)]

    def _chain(
        self, chain: list[tuple[HloInstruction, BlockedKernel]], accesses: list[ChainAccess]
    ) -> None:
        """Emit a chain of kernels block by block if that pays, else kernel by kernel."""
        members = [i for i, _ in chain]
        tasks = count_blocks([rows for _, rows in chain], accesses, self.kernels.target)
        prepared = (
            [self.operations.prepared(i, "kernel", write_kernel, tasks) for i in members]
            if tasks
            else []
        )
        made = [kernel.made for kernel in prepared]
        if not tasks or any(
            one.tasks != tasks or one.phases or isinstance(one.nest, Reason) for one in made
        ):
            for i in members:
                with self.w.from_instruction(i.id):
                    self.instruction(i)
            return
        self.kernels.decisions += [
            cache_blocking_decision(i, [member.name for member in members], tasks, self.threads)
            for i in members
        ]
        numbers = [
            self.operations.row(i, "kernel", kernel.function, None)
            for i, kernel in zip(members, prepared, strict=True)
        ]
        if (
            self.threads > 1
            and not self.instrumented
            and not any(kernel.made.scratch_bytes for kernel in prepared)
        ):
            self.calls.chain(prepared, tasks)
            return
        if self.threads > 1:  # an instrumented step is one kernel, so kernels run sequentially
            for i, kernel, number in zip(members, prepared, numbers, strict=True):
                with self.w.from_instruction(i.id):
                    self.calls.instrument(number, True)
                    self.calls.kernel(kernel)
                    self.calls.instrument(number, False)
            return
        with self.w.loop(tasks, stem="block") as block:
            for i, kernel, number in zip(members, prepared, numbers, strict=True):
                with self.w.from_instruction(i.id):
                    self.calls.instrument(number, True)
                    self.calls.kernel(kernel, block)
                    self.calls.instrument(
                        number,
                        False,
                        counted=self.w.test("eq", block, 0) if self.instrumented else None,
                    )

    def instruction(self, i: HloInstruction) -> None:
        """Emit one instruction."""
        if self.operations.strategy_of(i).kind is LoweringKind.CONTROL:
            self._control(i)
        else:
            self.operations.write(i)

    def _control(self, i: HloInstruction) -> None:
        if i.opcode.name == "while":
            self.while_loop(i)
        elif i.opcode.name == "conditional":
            self.conditional(i)
        else:
            self.computation(i.called[0])
            self._copy_result(i.called[0].root, i)

    def _copy_result(self, root: HloInstruction, i: HloInstruction) -> None:
        for index, leaf in i.shape.leaves():
            if leaf.is_array:
                self.operations.copy(self.place_of(root, index), self.place_of(i, index))

    def while_loop(self, i: HloInstruction) -> None:
        """Emit condition, body and back edge; the state is updated in place."""
        condition, body = i.called
        w = self.w
        self._copy_result(i.operands[0], i)
        head, inside, end = (
            w.fresh_label("while"),
            w.fresh_label("while.body"),
            w.fresh_label("while.end"),
        )
        w.branch(head)
        w.start_block(head)
        self.computation(condition)
        foreseen = _may_be_foreseen(condition, body)
        w.branch_if(
            self._load_pred(self.place_of(condition.root, ()), volatile=foreseen), inside, end
        )
        w.start_block(inside)
        self.computation(body)
        self._copy_result(body.root, i)
        w.branch(head, WHILE)
        w.start_block(end)

    def _load_pred(self, place: BufferSlice, *, volatile: bool = False) -> Value[Integer]:
        """Load a pred as an i1.

        volatile: load on every execution, against LLVM's own knowledge of the value.
        """
        address = self.calls.address(place)
        op = "load volatile" if volatile else "load"
        return self.w.emit(op, I8, (address,), Access(1)).differs(0)

    def conditional(self, i: HloInstruction) -> None:
        """Emit a branch on a pred, or a switch whose default is the last branch."""
        w = self.w
        selector = i.operands[0]
        end = w.fresh_label("branch.end")
        labels = [w.fresh_label("branch") for _ in i.called]
        place = self.place_of(selector, ())
        if selector.shape.element_type.is_pred:
            w.branch_if(self._load_pred(place), labels[0], labels[1])
        else:
            value = w.load(self.calls.address(place), I32, 4)
            w.switch(value, labels[:-1], labels[-1])
        for label, branch in zip(labels, i.called, strict=True):
            w.start_block(label)
            self.computation(branch)
            self._copy_result(branch.root, i)
            w.branch(end)
        w.start_block(end)

    # -- the whole ---------------------------------------------------------------------------------
    def _has_inner_function(self) -> bool:
        """Return True for a program with loops whose argument pointers are known not to alias."""
        loops = any(
            i.opcode.name == "while"
            for c in self.module.computations.values()
            for i in c.instructions.values()
        )
        # The evaluator writes through its own pointers.
        return self.noalias and loops and not self.operations.is_long and not self.operations.steps

    def write(self) -> HostProgram:
        """Return the program."""
        entry = self.module.entry
        self.computation(entry)
        for number, (index, leaf) in enumerate(
            [(x, s) for x, s in entry.root.shape.leaves() if s.is_array]
        ):
            place = self.place_of(entry.root, index)
            self.operations.copy(
                place, BufferSlice(self.table.output_slot + number, 0, leaf.byte_size)
            )
        self.w.return_(self.w.number(0, I32))
        kernels = self.kernels
        kernels.scheduled.check_all_met([row.name for row in self.operations.rows])
        # LLVM 22 aborts the process on vectors of an `optnone` function that is compiled beside
        # optimised ones.
        kernels.inlines_tiny = not self.operations.is_long
        kernels.note_vectors()
        declarations = {**self.w.declarations, **kernels.declarations}
        definitions = dict.fromkeys([*kernels.globals, *metadata_definitions(self.w.marks)])
        functions = [
            *kernels.definitions(),
            *self.entry.functions(has_inner=self._has_inner_function()),
        ]
        for function in vector_math_functions(kernels.math, self.kernels.target.vector.fma):
            functions.append(function.definition._replace(is_spaced=False))
            declarations.update(dict.fromkeys(function.declarations))
        if self.operations.foreign:
            functions.append(foreign_call_function())
        llvm_module = LlvmModule(
            tuple(functions),
            SOURCE,
            globals=tuple(definitions),
            declarations=tuple(declarations),
            is_whole=kernels.has_variables,
        )
        t = self.table
        return HostProgram(
            llvm_module,
            self.operations.rows,
            self.operations.steps,
            t.constants,
            t.constant_slot,
            t.arena_slot,
            t.callback_slot,
            t.counter_slot,
            t.scratch_slot,
            t.device_slot if t.reads_device_number else -1,
            kernels.scratch_bytes,
            t.size + len(self.calls.constant_data),
            tuple({**self.w.routines, **kernels.routines}),
            kernels.functions,
            list(self.calls.constant_data),
            t.size,
            self.threads,
            [*kernels.decisions, *kernels.scheduled.decisions],
            kernels.streaming(),
            frozenset(self.calls.slots),
        )


def _may_be_foreseen(condition: HloComputation, body: HloComputation) -> bool:
    """Return True if all values that a condition reads are constant after the first iteration.

    LLVM would then turn the `while` into an endless loop, or remove it, and move the metadata of an
    inner loop to it. It would warn on stderr that the loop cannot be unrolled.
    """
    (state,) = condition.parameters()
    if not state.shape.is_tuple:
        return body.root.opcode.name in ("parameter", "constant")
    for reader in state.users:
        if reader.opcode.name != "get-tuple-element" or body.root.opcode.name != "tuple":
            return False
        number = reader.attribute("index")
        given = body.root.operands[number]
        while given.opcode.name == "copy":
            given = given.operands[0]
        handed_on = (
            given.opcode.name == "get-tuple-element"
            and given.operands[0].opcode.name == "parameter"
        )
        if given.opcode.name != "constant" and not (
            handed_on and given.attribute("index") == number
        ):
            return False
    return True
