"""Rows of opcodes: kernel writers, complex numbers, limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental.complex_functions import COMPLEX_FUNCTIONS
from xla_explorer.compiler.codegen.kernels.custom_calls import (
    custom_call_is_emitted,
    write_custom_call_kernel,
)
from xla_explorer.compiler.codegen.kernels.fourier.transform import fft_is_emitted, write_fft_kernel
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.plain_reductions import (
    write_dot_kernel,
    write_plain_reduction,
)
from xla_explorer.compiler.codegen.kernels.random_bits import (
    rng_bit_generator_is_emitted,
    write_random_bits_kernel,
    write_random_state_kernel,
)
from xla_explorer.compiler.codegen.kernels.scatter import write_scatter_kernel
from xla_explorer.compiler.codegen.kernels.select_and_scatter import write_select_and_scatter_kernel
from xla_explorer.compiler.codegen.kernels.sorting.sort import sort_is_emitted, write_sort_kernel
from xla_explorer.compiler.codegen.kernels.sorting.topk import write_topk_kernel
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


class KernelRow(NamedTuple):
    """Code generation for one opcode.

    write: the writer of kernels whose root has the opcode; None for a loop over the elements of the
    result, or a loop nest. combines: as a kernel's only root it is a loop nest with a reduction.
    standalone: it may be a kernel's only instruction, but not be fused. sequential: its kernel is
    sequential code for a CPU (scratch memory, data-dependent loops). is_complex: complex numbers
    have an emitter. check: an additional refusal for an instruction.
    """

    opcode: str
    write: Callable[[KernelContext], None] | None = None
    combines: bool = False
    standalone: bool = False
    sequential: bool = False
    is_complex: bool = False
    check: Callable[[HloInstruction], Reason | None] | None = None


def _keeps_elements(i: HloInstruction) -> Reason | None:
    """Require the operand's width and number of elements.

    Both may differ if a layout has tiles, whose padding has no memory here.
    """
    before, after = i.operands[0].shape, i.shape
    if (before.element_type.bits, before.element_type.is_complex, before.element_count) == (
        after.element_type.bits,
        after.element_type.is_complex,
        after.element_count,
    ):
        return None
    return refuse(
        "bitcast-changes-width",
        f"%{i.name} must keep the width and the number of its elements, got {before} to {after}",
        shape=after.text,
    )


def _is_no_pred(i: HloInstruction) -> Reason | None:
    if not i.shape.element_type.is_pred:
        return None
    return refuse(
        "power-not-emitted", f"%{i.name}: power of {i.shape.element_type} has no emitter yet"
    )


def table(rows: Iterable[KernelRow]) -> MappingProxyType[str, KernelRow]:
    """Return the rows by opcode; ValueError for two rows of one opcode."""
    found: dict[str, KernelRow] = {}
    for row in rows:
        if row.opcode in found:
            raise ValueError(f"{row.opcode} has two rows")
        found[row.opcode] = row
    return MappingProxyType(found)


_WITH_COMPLEX = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "abs", "sign", "real", "imag", "complex", "convert", "select",
    "copy", "broadcast", "reshape", "transpose", "slice", "reverse", "dynamic-slice", "constant", "parameter", "compare", "iota", "tuple",
    "fusion", "opt-barrier", "map",
)  # fmt: skip
KERNEL_ROWS = table(
    (
        KernelRow("concatenate", is_complex=True),
        KernelRow("convolution", write_plain_reduction, standalone=True, is_complex=True),
        KernelRow(
            "custom-call",
            write_custom_call_kernel,
            standalone=True,
            sequential=True,
            is_complex=True,
            check=custom_call_is_emitted,
        ),
        KernelRow("dot", write_dot_kernel, is_complex=True),
        KernelRow("dynamic-update-slice", is_complex=True),
        KernelRow(
            "fft",
            write_fft_kernel,
            standalone=True,
            sequential=True,
            is_complex=True,
            check=fft_is_emitted,
        ),
        KernelRow("gather", is_complex=True),
        KernelRow("pad", is_complex=True),
        KernelRow("reduce", is_complex=True),
        KernelRow("reduce-window", write_plain_reduction, combines=True, is_complex=True),
        KernelRow(
            "rng-bit-generator",
            write_random_bits_kernel,
            standalone=True,
            check=rng_bit_generator_is_emitted,
        ),
        KernelRow(
            "rng-get-and-update-state", write_random_state_kernel, standalone=True, sequential=True
        ),
        KernelRow("scatter", write_scatter_kernel, is_complex=True),
        KernelRow(
            "select-and-scatter", write_select_and_scatter_kernel, standalone=True, sequential=True
        ),
        KernelRow(
            "sort",
            write_sort_kernel,
            standalone=True,
            sequential=True,
            is_complex=True,
            check=sort_is_emitted,
        ),
        KernelRow("topk", write_topk_kernel, standalone=True, sequential=True),
        KernelRow("bitcast", is_complex=True, check=_keeps_elements),
        KernelRow("power", is_complex="power" in COMPLEX_FUNCTIONS, check=_is_no_pred),
        *[
            KernelRow(name, is_complex=True)
            for name in (*_WITH_COMPLEX, *sorted(COMPLEX_FUNCTIONS - {"power"}))
        ],
    )
)


def kernel_row(opcode: str) -> KernelRow:
    """Return the row of an opcode, by default one without special code."""
    return KERNEL_ROWS.get(opcode) or KernelRow(opcode)


def has_own_writer(opcode: str) -> bool:
    """Return True if kernels with the opcode as root are more than a loop over elements."""
    row = kernel_row(opcode)
    return row.write is not None or row.combines or row.standalone
