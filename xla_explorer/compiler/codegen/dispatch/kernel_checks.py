"""Checks that an instruction has a native kernel, by the row of its opcode."""

from __future__ import annotations

from xla_explorer.compiler.codegen.dispatch.kernel_rows import has_own_writer, kernel_row
from xla_explorer.compiler.codegen.elemental import elemental_opcodes
from xla_explorer.compiler.codegen.elemental.emission_count import emission_is_bounded
from xla_explorer.compiler.codegen.kernels.products.dot_epilogue import (
    belongs_into_epilogue,
    epilogue_dot,
)
from xla_explorer.compiler.codegen.llvm_types import type_is_emitted
from xla_explorer.compiler.target import Kind
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape

_SCALAR = frozenset({"parameter", "constant", "tuple"})  # besides elementwise operations


def kernel_is_emitted(i: HloInstruction, kind: Kind = Kind.CPU) -> Reason | None:
    """Return a refusal if an instruction, or a part of a fusion, has no native kernel."""
    row = kernel_row(i.opcode.name)
    if kind is not Kind.CPU and row.sequential:
        return refuse(
            "sequential-kernel",
            f"%{i.name}: the kernel of {i.opcode.name} is sequential code for a CPU",
            opcode=i.opcode.name,
        )
    if i.opcode.name == "fusion":
        is_epilogue = i.attributes.get("kind") == "kOutput"
        return _epilogue_is_emitted(i, kind) if is_epilogue else _fusion_is_emitted(i, kind)
    if kind is not Kind.CPU and i.opcode.name == "scatter":
        reason = _combiner_is_elementwise(i)
        if reason is not None:
            return reason
    if i.opcode.name not in elemental_opcodes() and not has_own_writer(i.opcode.name):
        return refuse(
            "opcode-not-emitted",
            f"%{i.name}: {i.opcode.name} has no emitter yet",
            opcode=i.opcode.name,
        )
    for operand in i.operands:
        if (reason := _shape_is_emitted(operand.shape)) is not None:
            return reason
    return _instruction_is_emitted(i, True)


def _combiner_is_elementwise(scatter: HloInstruction) -> Reason | None:
    """Return a refusal unless a scatter combines elementwise: without atomics it is a loop nest."""
    bad = next(
        (
            x
            for x in scatter.to_apply.instructions.values()
            if not (x.opcode.elementwise or x.opcode.name in _SCALAR)
        ),
        None,
    )
    if bad is None:
        return None
    return refuse(
        "reducer-not-emitted",
        f"%{scatter.name} calls %{scatter.to_apply.name}, whose {bad.opcode.name} is not "
        "elementwise",
    )


def _fusion_is_emitted(fusion: HloInstruction, kind: Kind) -> Reason | None:
    """Return a refusal for the first fused instruction without an emitter, or for too much code."""
    inside = elemental_opcodes() | {"parameter", "constant"}
    root = fusion.called[0].root
    roots = set(root.operands) if root.opcode.name == "tuple" else {root}
    for inner in fusion.called[0].instructions.values():
        name = inner.opcode.name
        # A fused scatter has neither in-place atomics nor a loop nest on a GPU.
        if kind is not Kind.CPU and name == "scatter":
            return refuse(
                "opcode-not-emitted",
                f"%{inner.name}: scatter has no emitter inside a fusion on a GPU",
                opcode=name,
            )
        # Only a single root without readers in the fusion may have its own kernel writer.
        alone = (
            inner is root
            and not inner.users
            and has_own_writer(name)
            and not kernel_row(name).standalone
        )
        if name not in inside and not alone and not (inner is root and name == "tuple"):
            return refuse(
                "opcode-not-emitted",
                f"%{inner.name}: {name} has no emitter inside a fusion",
                opcode=name,
            )
        if (reason := _instruction_is_emitted(inner, inner in roots)) is not None:
            return reason
    return emission_is_bounded(fusion.called[0])


def _epilogue_is_emitted(fusion: HloInstruction, kind: Kind) -> Reason | None:
    """Return a refusal unless a fusion is a dot with an epilogue on its tiles."""
    dot = epilogue_dot(fusion)
    if dot is None or kind is not Kind.CPU:
        return refuse(
            "opcode-not-emitted",
            f"%{fusion.name}: only a dot on a CPU has an epilogue",
            opcode="fusion",
        )
    for i in fusion.called[0].instructions.values():
        if (
            i is not dot
            and i.opcode.name not in ("parameter", "constant")
            and (reason := belongs_into_epilogue(i, dot)) is not None
        ):
            return reason
    return None


def _shape_is_emitted(shape: Shape) -> Reason | None:
    if shape.is_tuple or not (shape.is_array or shape.element_type is None):
        return refuse("shape-not-emitted", f"expected an array, got {shape}", shape=shape.text)
    return type_is_emitted(shape)


def _instruction_is_emitted(i: HloInstruction, is_root: bool) -> Reason | None:
    reason = type_is_emitted(i.shape)
    if reason is not None:
        return reason
    name = i.opcode.name
    if (reason := _complex_is_emitted(i)) is not None:
        return reason
    for computation in i.called:
        if name in ("map", "reduce", "scatter", "sort", "reduce-window", "select-and-scatter"):
            for inner in computation.instructions.values():
                if inner.opcode.name not in elemental_opcodes() | {
                    "parameter",
                    "constant",
                    "tuple",
                }:
                    return refuse(
                        "reducer-not-emitted",
                        f"%{i.name} calls %{computation.name}, whose {inner.opcode.name} has no "
                        "emitter",
                    )
                if (
                    reason := type_is_emitted(inner.shape) or _complex_is_emitted(inner)
                ) is not None:
                    return reason
    if name == "reduce" and not is_root and len(i.operands) != 2:
        return refuse(
            "variadic-reduce-inside-fusion", f"%{i.name} reduces several operands inside a fusion"
        )
    check = kernel_row(name).check
    return check(i) if check is not None else None


def _complex_is_emitted(i: HloInstruction) -> Reason | None:
    """Return a refusal if an opcode has no emitter for complex numbers."""
    name = i.opcode.name
    involved = [i.shape, *[o.shape for o in i.operands]]
    if not kernel_row(name).is_complex and any(
        s.element_type is not None and s.element_type.is_complex for s in involved
    ):
        return refuse(
            "complex-not-emitted",
            f"%{i.name}: {name} of complex numbers has no emitter yet",
            opcode=name,
        )
    return None
