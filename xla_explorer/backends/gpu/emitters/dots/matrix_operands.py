"""Sizes and strides of a dot's operands as matrices, and the checks for tensor cores.

A new element type is a row of `_OUTPUTS`. `matrices_in` accepts any dot with one contracting and
one non-contracting dimension; `matrices_of` also checks types and alignment for tensor cores.

TF32 operands are f32 arrays whose lower mantissa bits are ignored. An f32 element has two units of
16 bits, and its fragments have the layout of two 16-bit elements. So only the product itself
differs from that of 16-bit types. At default precision XLA lets cuBLAS use TF32 for f32. The
kernels here use TF32 only if a dot requests it (`algorithm=dot_tf32_tf32_f32`). So results on the
emulator or without libraries have the accuracy of f32.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

CHUNK = 8  # units of 16 bits in 16 bytes
# Element types of results, by the element type of both operands.
_OUTPUTS = {"f32": ("f32", "bf16", "f16"), "bf16": ("f32", "bf16"), "f16": ("f32", "f16")}
_TF32 = "dot_tf32_tf32_f32"


class Operand(NamedTuple):
    """Strides of an operand in units; for tensor cores `kept` or `reduced` is 1.

    kept: of the non-contracting dimension. reduced: of the contracting dimension. batch: of the
    batch dimensions.
    """

    kept: int
    reduced: int
    batch: tuple[int, ...]

    @property
    def reduced_is_minor(self) -> bool:
        """True if the contracting dimension is contiguous."""
        return self.reduced == 1


class Matrices(NamedTuple):
    """The operands of a batch of m x n x k products.

    kind: the element type; `tf32` for f32 on tensor cores. k: the contracting dimension in units. A
    unit is 16 bits for tensor cores, else one element. batch: sizes of the batch dimensions.
    """

    kind: str
    m: int
    n: int
    k: int
    batch: tuple[int, ...]
    left: Operand
    right: Operand

    @property
    def sums(self) -> tuple[int, ...]:
        """Dimensions of the result: batch, m, n."""
        return (*self.batch, self.m, self.n)

    @property
    def sentence(self) -> str:
        """Sizes of one product: `m x n x k`."""
        return f"{self.m} x {self.n} x {self.k}"


def matrices_in(dot: HloInstruction, kind: str, units: int = 1) -> Matrices | Reason:
    """Return the operands of a dot as matrices, or a refusal. units: units of an element."""
    sides = []
    for o, side in zip(dot.operands, ("lhs", "rhs"), strict=True):
        batch, contracting = (
            dot.attribute(f"{side}_batch_dims"),
            dot.attribute(f"{side}_contracting_dims"),
        )
        kept = [d for d in range(o.shape.rank) if d not in batch and d not in contracting]
        if len(kept) != 1 or len(contracting) != 1:
            text = (
                f"%{o.name} must have one kept and one reduced dimension, got {len(kept)} and "
                f"{len(contracting)}"
            )
            return refuse("dot-is-no-matrix-product", text)
        strides = [units * s for s in o.shape.strides]
        reduced = 1 if strides[contracting[0]] == units else strides[contracting[0]]
        extents = [o.shape.dimensions[d] for d in (*kept, *contracting, *batch)]
        sides.append(
            (Operand(strides[kept[0]], reduced, tuple([strides[d] for d in batch])), extents)
        )
    (left, (m, k, *batches)), (right, (n, *_)) = sides
    if 0 in (m, n, k, *batches) or not dot.shape.layout.is_default:
        return refuse("result-not-row-major", f"%{dot.name} must be row-major and not empty")
    return Matrices(kind, m, n, k * units, tuple(batches), left, right)


def matrices_of(dot: HloInstruction) -> Matrices | Reason:
    """Return the operands of a dot for tensor cores, or a refusal."""
    a, b = dot.operands
    kind, name = a.shape.element_type, a.shape.element_type.name
    tf32 = name == "f32" and _TF32 in str(dot.attributes.get("algorithm"))
    if (
        (name not in ("bf16", "f16") and not tf32)
        or b.shape.element_type is not kind
        or dot.shape.element_type.name not in _OUTPUTS[name]
    ):
        text = f"%{dot.name}: {kind} x {b.shape.element_type} to {dot.shape.element_type}"
        if name == "f32":
            text += f", and no algorithm={_TF32}"
        return refuse("type-not-of-tensor-cores", text, type=name)
    units = 2 if tf32 else 1
    found = matrices_in(dot, "tf32" if tf32 else name, units)
    if isinstance(found, Reason):
        return found
    for o, operand, kept in ((a, found.left, found.m), (b, found.right, found.n)):
        reason = _why_not_loaded(
            o, operand, found.k if operand.reduced_is_minor else units * kept, units
        )
        if reason is not None:
            return reason
    return found


def _why_not_loaded(i: HloInstruction, found: Operand, minor: int, units: int) -> Reason | None:
    """Return None if 16-byte copies can load an operand. minor: units in a row in memory."""
    if units > 1 and not found.reduced_is_minor:
        text = f"%{i.name}: products of TF32 need a contiguous reduced dimension"
        return refuse("reduced-is-not-minor", text)
    strides = (found.kept, found.reduced, *found.batch)
    if 1 not in strides[:2]:
        return refuse(
            "minor-dimension-is-batch",
            f"%{i.name}: neither the kept nor the reduced dimension is minor",
            strides=strides,
        )
    if any(s % CHUNK for s in strides if s != 1) or minor % CHUNK:
        text = f"%{i.name}: rows must be a multiple of 16 bytes, the size of an asynchronous copy"
        return refuse("rows-not-aligned", text, strides=strides)
    return None
