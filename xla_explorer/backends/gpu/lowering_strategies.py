"""Lowering strategies of instructions on a GPU, in the order of attempts.

The emitter of a kernel is chosen by `selection`.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters import OPERATIONS, operation_is_emitted
from xla_explorer.backends.gpu.emitters.dots.result_store import product_in
from xla_explorer.compiler.codegen.dispatch import (
    ChosenStrategy,
    LoweringKind,
    LoweringStrategy,
    choose_strategy,
    kernel_is_emitted,
)
from xla_explorer.compiler.codegen.dispatch.strategies import CONTROL_FLOW, RENAMES, anything, of
from xla_explorer.compiler.codegen.single_device import (
    COPIES,
    IDENTIFIERS,
    collective_on_one_device,
)
from xla_explorer.compiler.target import NVPTX, Kind, Target
from xla_explorer.compiler.transforms.library_calls.library_call import library_call_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


def _one_device(i: HloInstruction, target: Target) -> Reason | None:
    return collective_on_one_device(i, i.parent.module)


def _own_operation(i: HloInstruction, target: Target) -> Reason | None:
    return operation_is_emitted(i)


def _is_product(i: HloInstruction) -> bool:
    return i.opcode.name == "fusion" and i.attributes.get("kind") == "kOutput"


def _product(i: HloInstruction, target: Target) -> Reason | None:
    found = product_in(i, "dot", "convolution")
    return found if isinstance(found, Reason) else None


def _emitted(i: HloInstruction, target: Target) -> Reason | None:
    return kernel_is_emitted(i, Kind.GPU)


_COPIES = LoweringStrategy(
    "one-device", LoweringKind.COPY, of(*COPIES), _one_device, is_exclusive=True
)
_COPY = LoweringStrategy("copy", LoweringKind.COPY, of("copy"))
_KERNEL = LoweringStrategy("kernel", LoweringKind.KERNEL, anything, _emitted)
# Any GPU: one thread an element. NVIDIA's also have libraries, and emitters of operations and
# products.
GPU_STRATEGIES = (_COPIES, RENAMES, CONTROL_FLOW, _COPY, _KERNEL)
NVIDIA_STRATEGIES = (
    LoweringStrategy("library", LoweringKind.LIBRARY, lambda i: library_call_of(i) is not None),
    _COPIES,
    LoweringStrategy(
        "one-device", LoweringKind.KERNEL, of(*IDENTIFIERS), _one_device, is_exclusive=True
    ),
    LoweringStrategy(
        "operation", LoweringKind.KERNEL, of(*OPERATIONS), _own_operation, is_exclusive=True
    ),
    RENAMES,
    CONTROL_FLOW,
    _COPY,
    LoweringStrategy("product", LoweringKind.KERNEL, _is_product, _product, is_exclusive=True),
    _KERNEL,
)


def gpu_strategy(i: HloInstruction, target: Target = NVPTX) -> ChosenStrategy:
    """Return the lowering strategy of an optimised instruction on a GPU."""
    return choose_strategy(
        i, target, NVIDIA_STRATEGIES if target.triple == NVPTX.triple else GPU_STRATEGIES
    )
