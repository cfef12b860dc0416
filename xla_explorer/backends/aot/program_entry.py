"""The C entry of an ahead-of-time program: LLVM IR that checks pointers and fills the table.

The table is on the stack. Everything else in the object has internal linkage, so that several
modules can be linked into one program. Only the outputs and the caller's workspace are written: any
number of threads may run the same entry, each with its own workspace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.definitions import Global, constant_bytes
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.records import Access
from xla_explorer.compiler.codegen.ir.types import I1, I8, I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.hlo.literal import Literal

ALIGNMENT = 64  # of workspace, weights and constants, in bytes
NULL_POINTER, MISALIGNED = 1, 2  # what the entry returns


class Weight(NamedTuple):
    """A constant that the caller passes: its offset in the weights, its bytes in memory order."""

    slot: int
    offset: int
    data: bytes


class ProgramEntry(NamedTuple):
    """A program with its C entry.

    weights: empty if all constants are in the object. workspace_bytes: memory that the caller
    provides.
    """

    module: LlvmModule
    weights: list[Weight]
    workspace_bytes: int


def aligned(size: int) -> int:
    """Return the size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def literal_bytes(literal: Literal) -> bytes:
    """Return a constant's bytes in the order of its layout."""
    array = np.asarray(literal.array)
    if not literal.shape.layout.is_default and literal.shape.rank > 1:
        array = array.transpose(tuple(reversed(literal.shape.layout.minor_to_major)))
    return np.ascontiguousarray(array).tobytes()


def write_entry(
    program: HostProgram,
    prefix: str,
    sizes: list[int],
    inputs: int,
    arena_bytes: int,
    pointer_bits: int,
    least_weight: int | None,
) -> ProgramEntry:
    """Add the C entry `<prefix>_run`, which calls the program's own entry of that name.

    The latter becomes `<prefix>.program`, which the linker does not see.

    sizes: bytes of each input, then of each output, in the order of the table; inputs: the number
    of inputs. least_weight: constants from so many bytes on are passed by the caller; None embeds
    all.
    """
    constants = [
        (program.constant_slot + k, literal_bytes(literal))
        for k, literal in enumerate(program.constants)
    ]
    constants += [
        (program.constant_data_slot + k, bytes(data))
        for k, data in enumerate(program.constant_data)
    ]
    constants = [(slot, data) for slot, data in constants if slot in program.slots]
    weights: list[Weight] = []
    definitions: list[Global] = []
    place = 0
    stores: dict[int, Value[Pointer]] = {}
    w = FunctionWriter()
    for slot, data in constants:
        if least_weight is not None and len(data) >= least_weight:
            weights.append(Weight(slot, place, data))
            place += aligned(len(data))
        else:
            name = f"{prefix}_constant_{slot}"
            definitions.append(constant_bytes(name, data or b"\0", ALIGNMENT))
            stores[slot] = w.named(f"@{prefix}_constant_{slot}", PTR)
    scratch_at = aligned(arena_bytes)
    workspace_bytes = scratch_at + aligned(program.scratch_bytes)
    passed = [
        "ptr noundef %inputs",
        "ptr noundef %outputs",
        *(["ptr noundef %weights"] if weights else []),
        "ptr noundef %workspace",
    ]
    table_type = f"[{max(program.table_size, 1)} x ptr], align {ALIGNMENT}"
    arguments = w.define("%arguments", "alloca", PTR, (), table_type)
    for slot, size in enumerate(sizes):
        group, number = ("inputs", slot) if slot < inputs else ("outputs", slot - inputs)
        at = _address(w, f"%value{slot}.at", f"%{group}", PTR, number)
        value = w.define(f"%value{slot}", "load", PTR, (at,), Access())
        # No code reads or writes through the pointer of an empty array.
        stores[slot] = value if size else arguments
    for weight in weights:
        stores[weight.slot] = _address(w, f"%weight{weight.slot}", "%weights", I8, weight.offset)
    workspace = w.named("%workspace", PTR)
    scratch = _address(w, "%scratch", workspace.name, I8, scratch_at)
    stores[program.arena_slot], stores[program.scratch_slot] = workspace, scratch
    checked = [stores[slot] for slot, size in enumerate(sizes) if size]
    in_memory = ([w.named("%weights", PTR)] if weights else []) + (
        [workspace] if workspace_bytes else []
    )
    statuses = _write_checks(w, checked, in_memory, Type(f"i{pointer_bits}"))
    for slot, pointer in stores.items():
        w.store(pointer, _address(w, f"%slot{slot}", arguments.name, PTR, slot))
    status = w.define("%status", "call", I32, (arguments,), f"i32 @{prefix}.program")
    w.return_(status)
    for refusal, number in statuses.items():
        w.start_block(refusal)
        w.return_(w.number(number, I32))
    name = f"{prefix}_run"
    entry = LlvmFunction(
        name,
        tuple(passed),
        w.body(),
        result="i32",
        linkage="",
        globals=tuple(definitions),
        callees=(f"{prefix}.program",),
    )
    own = [
        function._replace(name=f"{prefix}.program", linkage="internal")
        if function.name == name
        else function
        for function in program.module.functions
    ]
    module = replace(
        program.module,
        functions=(*own, entry),
        globals=(*program.module.globals, *definitions),
        is_whole=True,
    )
    return ProgramEntry(module, weights, workspace_bytes)


def _address(w: FunctionWriter, name: str, pointer: str, t: Type, at: int) -> Value[Pointer]:
    """Emit the address of an element under a name."""
    place = (w.named(pointer, PTR), w.number(at, I64))
    return w.define(name, "getelementptr", PTR, place, f"inbounds {t}")


def _write_checks(
    w: FunctionWriter, checked: list[Value], in_memory: list[Value], word: Type
) -> dict[str, int]:
    """Emit the checks of pointers; return the status of each block of a refusal.

    in_memory: pointers that must be aligned.
    """
    statuses: dict[str, int] = {}

    def check(name: str, status: int, values: list[Value], predicate: str, other: Value) -> None:
        """Return the status if a comparison holds for one of the values."""
        if not values:
            return
        statuses[name] = status
        total: Value[Integer] | None = None
        for number, value in enumerate(values):
            found = w.define(f"%{name}{number}", "icmp", I1, (value, other), predicate)
            if total is not None:
                found = w.define(f"%{name}.any{number}", "or", I1, (total, found))
            total = found
        assert total is not None
        w.branch_if(total, name, f"{name}.not")
        w.start_block(f"{name}.not")

    check("null", NULL_POINTER, [*checked, *in_memory], "eq", w.named("null", PTR))
    low = []
    for number, pointer in enumerate(in_memory):
        address = w.define(f"%address{number}", "ptrtoint", word, (pointer,))
        mask = w.number(ALIGNMENT - 1, word)
        low.append(w.define(f"%low{number}", "and", word, (address, mask)))
    check("skewed", MISALIGNED, low, "ne", w.number(0, word))
    return statuses
