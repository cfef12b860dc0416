"""The C entry of an ahead-of-time program: LLVM IR that checks pointers and fills the table.

The table is on the stack. Everything else in the object has internal linkage, so that several
modules can be linked into one program. Only the outputs and the caller's workspace are written: any
number of threads may run the same entry, each with its own workspace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.hlo.literal import Literal

ALIGNMENT = 64  # of workspace, weights and constants, in bytes
NULL_POINTER, MISALIGNED = 1, 2  # what the entry returns
_HEXADECIMAL = np.frombuffer(b"0123456789ABCDEF", np.uint8)


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


def constant_definition(name: str, data: bytes) -> str:
    """Return the LLVM definition of a private constant."""
    raw = np.frombuffer(data, np.uint8)
    text = np.empty((len(raw), 3), np.uint8)
    text[:, 0], text[:, 1], text[:, 2] = ord("\\"), _HEXADECIMAL[raw >> 4], _HEXADECIMAL[raw & 15]
    return f'@{name} = private unnamed_addr constant [{len(raw)} x i8] c"{text.tobytes().decode()}", align {ALIGNMENT}'


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
    definitions: list[str] = []
    place = 0
    stores: dict[int, str] = {}
    for slot, data in constants:
        if least_weight is not None and len(data) >= least_weight:
            weights.append(Weight(slot, place, data))
            place += aligned(len(data))
        else:
            definitions.append(constant_definition(f"{prefix}_constant_{slot}", data or b"\0"))
            stores[slot] = f"@{prefix}_constant_{slot}"
    scratch_at = aligned(arena_bytes)
    workspace_bytes = scratch_at + aligned(program.scratch_bytes)
    passed = [
        "ptr noundef %inputs",
        "ptr noundef %outputs",
        *(["ptr noundef %weights"] if weights else []),
        "ptr noundef %workspace",
    ]
    body = [
        "entry:",
        f"  %arguments = alloca [{max(program.table_size, 1)} x ptr], align {ALIGNMENT}",
    ]
    for slot, size in enumerate(sizes):
        group, number = ("inputs", slot) if slot < inputs else ("outputs", slot - inputs)
        body.append(f"  %value{slot}.at = getelementptr inbounds ptr, ptr %{group}, i64 {number}")
        body.append(f"  %value{slot} = load ptr, ptr %value{slot}.at")
        stores[slot] = (
            f"%value{slot}" if size else "%arguments"
        )  # no code reads or writes through the pointer of an empty array
    for weight in weights:
        body.append(
            f"  %weight{weight.slot} = getelementptr inbounds i8, ptr %weights, i64 {weight.offset}"
        )
        stores[weight.slot] = f"%weight{weight.slot}"
    body.append(f"  %scratch = getelementptr inbounds i8, ptr %workspace, i64 {scratch_at}")
    stores[program.arena_slot], stores[program.scratch_slot] = "%workspace", "%scratch"
    checked = [stores[slot] for slot, size in enumerate(sizes) if size]
    in_memory = (["%weights"] if weights else []) + (["%workspace"] if workspace_bytes else [])
    checks: list[str] = []
    _check(
        body,
        checks,
        [*checked, *in_memory],
        "null",
        NULL_POINTER,
        lambda pointer: f"icmp eq ptr {pointer}, null",
    )
    if in_memory:
        for number, pointer in enumerate(in_memory):
            body += [f"  %address{number} = ptrtoint ptr {pointer} to i{pointer_bits}"]
            body += [f"  %low{number} = and i{pointer_bits} %address{number}, {ALIGNMENT - 1}"]
        low = {pointer: f"%low{number}" for number, pointer in enumerate(in_memory)}
        _check(
            body,
            checks,
            in_memory,
            "skewed",
            MISALIGNED,
            lambda pointer: f"icmp ne i{pointer_bits} {low[pointer]}, 0",
        )
    for slot, pointer in stores.items():
        body.append(f"  %slot{slot} = getelementptr inbounds ptr, ptr %arguments, i64 {slot}")
        body.append(f"  store ptr {pointer}, ptr %slot{slot}")
    body += [f"  %status = call i32 @{prefix}.program(ptr %arguments)", "  ret i32 %status"]
    lines = (*body, *checks)
    name = f"{prefix}_run"
    entry = LlvmFunction(
        name,
        tuple(passed),
        lines,
        (None,) * len(lines),
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


def _check(
    body: list[str],
    refusals: list[str],
    pointers: list[str],
    name: str,
    status: int,
    condition: Callable[[str], str],
) -> None:
    """Return `status` when the condition holds for one of the pointers."""
    if not pointers:
        return
    total = ""
    for number, pointer in enumerate(pointers):
        body.append(f"  %{name}{number} = {condition(pointer)}")
        if total:
            body.append(f"  %{name}.any{number} = or i1 {total}, %{name}{number}")
            total = f"%{name}.any{number}"
        else:
            total = f"%{name}{number}"
    body += [f"  br i1 {total}, label %{name}, label %{name}.not", f"{name}.not:"]
    refusals += [f"{name}:", f"  ret i32 {status}"]
