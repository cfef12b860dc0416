"""The operands of a dot as matrices that tensor cores read 16 bytes at a time.

TF32 operands are f32 arrays whose lower mantissa bits the tensor cores leave out. Their fragments are those of 16-bit types with half
as many elements, word for word, so everything but the product itself treats an f32 as two units of 16 bits. At default precision XLA
lets cuBLAS use TF32 for f32; our kernels use it only where a dot asks for it (`algorithm=dot_tf32_tf32_f32`), so that what runs on the
emulator or without libraries has the accuracy of f32.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

CHUNK = 8  # units of 16 bits in 16 bytes
_OUTPUTS = frozenset({"f32", "bf16", "f16"})
_TF32 = "dot_tf32_tf32_f32"


class Operand(NamedTuple):
    """An operand as matrices: strides of the kept and the reduced dimension and of the batch dimensions; one is 1."""

    kept: int
    reduced: int
    batch: tuple[int, ...]

    @property
    def reduced_is_minor(self) -> bool:
        """Whether neighbours in memory are neighbours along the reduced dimension."""
        return self.reduced == 1


class Matrices(NamedTuple):
    """kind: bf16, f16 or tf32. m, n: of one product; k: units of 16 bits of its reduced dimension. left, right: strides in units."""

    kind: str
    m: int
    n: int
    k: int
    batch: tuple[int, ...]
    left: Operand
    right: Operand


def matrices_of(dot: HloInstruction) -> Matrices | Reason:
    """The operands of a dot for tensor cores, or why they cannot be."""
    a, b = dot.operands
    kind, name = a.shape.element_type, a.shape.element_type.name
    tf32 = name == "f32" and _TF32 in str(dot.attributes.get("algorithm"))
    if (name not in ("bf16", "f16") and not tf32) or b.shape.element_type is not kind or dot.shape.element_type.name not in _OUTPUTS:
        text = f"%{dot.name}: {kind} x {b.shape.element_type} to {dot.shape.element_type}"
        if name == "f32":
            text += f", and no algorithm={_TF32}"
        return refuse("type-not-of-tensor-cores", text, type=name)
    left_batch, right_batch = dot.attribute("lhs_batch_dims"), dot.attribute("rhs_batch_dims")
    units = 2 if tf32 else 1
    left = _operand(a, left_batch, dot.attribute("lhs_contracting_dims"), units)
    right = _operand(b, right_batch, dot.attribute("rhs_contracting_dims"), units)
    if isinstance(left, Reason):
        return left
    if isinstance(right, Reason):
        return right
    (left_operand, m), (right_operand, n) = left, right
    k = a.shape.dimensions[dot.attribute("lhs_contracting_dims")[0]]
    batch = tuple([a.shape.dimensions[d] for d in left_batch])
    if 0 in (m, n, k, *batch) or not dot.shape.layout.is_default:
        return refuse("result-not-row-major", f"%{dot.name} is empty or not row-major")
    return Matrices("tf32" if tf32 else name, m, n, k * units, batch, left_operand, right_operand)


def _operand(i: HloInstruction, batch: tuple[int, ...], contracting: tuple[int, ...], units: int) -> tuple[Operand, int] | Reason:
    """An operand as matrices, and the extent of its kept dimension; or why it is none that 16-byte copies can bring."""
    strides, rank = [units * s for s in i.shape.strides], i.shape.rank
    kept = [d for d in range(rank) if d not in batch and d not in contracting]
    if len(kept) != 1 or len(contracting) != 1:
        return refuse("dot-is-no-matrix-product", f"%{i.name} has {len(kept)} kept and {len(contracting)} reduced dimensions")
    if units > 1 and strides[contracting[0]] != units:
        text = f"%{i.name}: products of TF32 read neighbours along the reduced dimension, which is not the minor one"
        return refuse("reduced-is-not-minor", text)
    reduced = 1 if strides[contracting[0]] == units else strides[contracting[0]]
    found = Operand(strides[kept[0]], reduced, tuple([strides[d] for d in batch]))
    if 1 not in (found.kept, found.reduced):
        return refuse("minor-dimension-is-batch", f"%{i.name}: neither the kept nor the reduced dimension is minor", strides=strides)
    others = [s for s in (found.kept, found.reduced, *found.batch) if s != 1]
    minor = units * i.shape.dimensions[contracting[0] if found.reduced_is_minor else kept[0]]
    if any(s % CHUNK for s in others) or minor % CHUNK:
        text = f"%{i.name}: rows must be a multiple of 16 bytes, which an asynchronous copy moves"
        return refuse("rows-not-aligned", text, strides=strides)
    return found, i.shape.dimensions[kept[0]]
