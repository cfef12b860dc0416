"""Lowering strategies of instructions on a CPU, in the order of attempts."""

from __future__ import annotations

from xla_explorer.compiler.codegen.dispatch.kernel_checks import kernel_is_emitted
from xla_explorer.compiler.codegen.dispatch.kernel_writing import write_kernel
from xla_explorer.compiler.codegen.dispatch.strategies import (
    CONTROL_FLOW,
    RENAMES,
    ChosenStrategy,
    LoweringKind,
    LoweringStrategy,
    anything,
    choose_strategy,
    of,
)
from xla_explorer.compiler.codegen.foreign_calls import (
    foreign_call_is_possible,
    is_foreign_call,
    why_foreign_call,
)
from xla_explorer.compiler.codegen.lapack import (
    is_lapack_call,
    lapack_call,
    why_lapack_call,
    write_lapack_call,
)
from xla_explorer.compiler.codegen.library_calls import (
    convolution_by_library,
    dot_by_library,
    why_by_library,
    why_fft_without_library,
    write_library_convolution,
    write_library_dot,
)
from xla_explorer.compiler.codegen.linear_algebra_calls import (
    linear_algebra_by_library,
    why_linear_algebra_by_library,
    write_cholesky,
    write_triangular_solve,
)
from xla_explorer.compiler.codegen.single_device import (
    COPIES,
    IDENTIFIERS,
    collective_on_one_device,
    runs_on_several,
)
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.call_signatures import signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import (
    PAD_TO_STATIC,
    is_pad_to_static,
    is_padded_parameter,
)
from xla_explorer.hlo.instruction import HloInstruction


def _no_library(i: HloInstruction, target: Target) -> Reason | None:
    if target.abilities.calls_libraries:
        return None
    return refuse(
        "no-library", f"%{i.name}: code for {target.triple} calls no library", opcode=i.opcode.name
    )


def _dot(i: HloInstruction, target: Target) -> Reason | None:
    return _no_library(i, target) or dot_by_library(i, target)


def _convolution(i: HloInstruction, target: Target) -> Reason | None:
    return _no_library(i, target) or convolution_by_library(i, target)


def _linear_algebra(i: HloInstruction, target: Target) -> Reason | None:
    return _no_library(i, target) or linear_algebra_by_library(i)


def _lapack_call(i: HloInstruction, target: Target) -> Reason | None:
    found = lapack_call(i)
    return _no_library(i, target) or (found if isinstance(found, Reason) else None)


def _one_device(i: HloInstruction, target: Target) -> Reason | None:
    return collective_on_one_device(i, i.parent.module)


def _exchanges(i: HloInstruction) -> bool:
    return i.opcode.name in COPIES and runs_on_several(i.parent.module)


def _pad_to_static(i: HloInstruction, target: Target) -> Reason | None:
    mismatch = signature_mismatch(i)
    if mismatch is None and is_padded_parameter(i.operands[0]):
        return None
    what = (
        mismatch.message
        if mismatch is not None
        else "the operand must be a dynamic parameter of the entry, with its sizes behind it"
    )
    return refuse("custom-call-target", f"%{i.name}: {what}", target=PAD_TO_STATIC)


def _emitted(i: HloInstruction, target: Target) -> Reason | None:
    return kernel_is_emitted(i)


_SLOWER = frozenset({"register-tile-faster", "dot-too-small", "too-few-features"})
# Operations; also a copy that changes the layout or is divided among threads.
OPERATION_STRATEGIES = (
    LoweringStrategy(
        "blas",
        LoweringKind.LIBRARY,
        of("dot"),
        _dot,
        write_library_dot,
        why_by_library,
        unprofitable=_SLOWER,
    ),
    LoweringStrategy(
        "blas",
        LoweringKind.LIBRARY,
        of("convolution"),
        _convolution,
        write_library_convolution,
        why_by_library,
        unprofitable=_SLOWER,
    ),
    LoweringStrategy(
        "lapack",
        LoweringKind.LIBRARY,
        of("cholesky"),
        _linear_algebra,
        write_cholesky,
        why_linear_algebra_by_library,
        True,
    ),
    LoweringStrategy(
        "blas",
        LoweringKind.LIBRARY,
        of("triangular-solve"),
        _linear_algebra,
        write_triangular_solve,
        why_linear_algebra_by_library,
        True,
    ),
    LoweringStrategy(
        "lapack",
        LoweringKind.LIBRARY,
        is_lapack_call,
        _lapack_call,
        write_lapack_call,
        why_lapack_call,
        True,
    ),
    LoweringStrategy(
        "foreign-function",
        LoweringKind.LIBRARY,
        is_foreign_call,
        foreign_call_is_possible,
        None,
        why_foreign_call,
        True,
    ),
    LoweringStrategy("fft-library", LoweringKind.LIBRARY, of("fft"), why_fft_without_library),
    LoweringStrategy("kernel", LoweringKind.KERNEL, anything, _emitted, write_kernel),
)
CPU_STRATEGIES = (
    RENAMES,
    CONTROL_FLOW,
    LoweringStrategy("copy", LoweringKind.COPY, of("copy")),
    LoweringStrategy(
        PAD_TO_STATIC, LoweringKind.COPY, is_pad_to_static, _pad_to_static, is_exclusive=True
    ),
    LoweringStrategy("device-number", LoweringKind.COPY, of(*IDENTIFIERS)),
    LoweringStrategy("several-devices", LoweringKind.EXCHANGE, _exchanges, why_chosen=_one_device),
    LoweringStrategy("one-device", LoweringKind.COPY, of(*COPIES), _one_device, is_exclusive=True),
    *OPERATION_STRATEGIES,
)


def cpu_strategy(
    i: HloInstruction, target: Target, control: PassControl | None = None
) -> ChosenStrategy:
    """Return the lowering strategy of an optimised instruction on a CPU.

    control: overrides of the user, which forbid or force library calls.
    """
    return choose_strategy(i, target, CPU_STRATEGIES, control)


def operation_strategy(
    i: HloInstruction, target: Target, control: PassControl | None = None
) -> ChosenStrategy:
    """Return the lowering strategy of an instruction that is more than a copy of memory."""
    return choose_strategy(i, target, OPERATION_STRATEGIES, control)
