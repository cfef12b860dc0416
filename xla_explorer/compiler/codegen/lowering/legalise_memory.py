"""The step `legalise-memory`: masked loads and stores become intrinsics."""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.types import I32, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep, RewriteBuilder


def _moved(t: Type) -> Type:
    """Return the type of a masked access: LLVM splits those of 16-bit floats into lanes."""
    return Type("i16", t.lanes) if t.scalar == "half" else Type(t.scalar, t.lanes)


def _load(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    assert i.result is not None
    (pointer, mask, alignment), t = i.operands, i.result.type
    moved = _moved(t)
    name = f"llvm.masked.load.{moved.suffix}.p0"
    b.declare(name, moved, PTR, I32, mask.type, moved)
    loaded = b.emit_here(
        "call", moved, (pointer, alignment, mask, b.number(0, moved)), f"{moved} @{name}"
    )
    return loaded if moved.scalar == t.scalar else b.emit("bitcast", t, (loaded,))


def _store(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> None:
    value, pointer, mask, alignment = i.operands
    moved = _moved(value.type)
    if moved.scalar != value.type.scalar:
        value = b.convert("bitcast", value, moved.scalar)
    name = f"llvm.masked.store.{moved.suffix}.p0"
    b.declare(name, None, moved, PTR, I32, mask.type)
    b.effect("call", (value, pointer, alignment, mask), f"void @{name}")


LEGALISE_MEMORY = RecordStep(
    "legalise-memory",
    "Write masked loads and stores as LLVM's intrinsics.",
    {"masked-load": _load, "masked-store": _store},
    lambda i, features: True,
    "k",
)
