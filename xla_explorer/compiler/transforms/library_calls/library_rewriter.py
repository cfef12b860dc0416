"""The pass `library-rewriter`: operations become library calls if that is faster.

Operations are products, convolutions, transforms, factorisations and triangular systems. The
instruction stays, so everything can still be evaluated and read; the call is in its
`backend_config`. A product absorbs the bias and the activation after it, in a fusion of kind
kCustom. XLA rewrites into custom calls instead (xla/service/gpu/transforms/gemm_rewriter.cc,
gpusolver_rewriter.cc, triangular_solve_rewriter.cc).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any, ClassVar, TypeVar

from xla_explorer.compiler.decisions.formatters import control_edges, described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.target import Abilities, Target
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.library_calls.convolution_matching import (
    convolution_of,
    prepared,
    prepared_bytes,
)
from xla_explorer.compiler.transforms.library_calls.epilogue_matching import Epilogue, epilogue_of
from xla_explorer.compiler.transforms.library_calls.library_call import (
    PRODUCTS,
    ConvolutionCall,
    LibraryCall,
    MatmulCall,
    annotate,
    call_name,
)
from xla_explorer.compiler.transforms.library_calls.library_costs import (
    Costs,
    Rates,
    costs_of,
    with_preparation,
)
from xla_explorer.compiler.transforms.library_calls.matmul_matching import matmul_of, may_use_tf32
from xla_explorer.compiler.transforms.library_calls.solver_matching import (
    cholesky_of,
    fft_of,
    triangular_solve_of,
)
from xla_explorer.foundation.reason import Reason, first_refusal, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CUSTOM = attributes_of({"kind": "kCustom"})
_TF32_SHARE, _TF32_GAIN_US = (
    0.9,
    2.0,
)  # the gain that justifies lower accuracy: fraction of the full-precision time, microseconds
_LIBRARIES = {
    "dot": "cublasLt",
    "fft": "cufft",
    "cholesky": "cusolver",
    "triangular-solve": "cublas",
    "convolution": "cudnn",
}

_Tf32Call = TypeVar("_Tf32Call", MatmulCall, ConvolutionCall)


class Choice:
    """One instruction, its possible call, and the costs of both ways."""

    def __init__(
        self,
        i: HloInstruction,
        rates: Rates,
        abilities: Abilities,
        tf32: bool,
        pinned: Collection[HloInstruction] = (),
    ) -> None:
        self.instruction, self.pinned, self.library = i, pinned, _LIBRARIES[i.opcode.name]
        self.why_not_there = abilities.libraries.get(self.library, "the target has no libraries")
        self.serves = abilities.serves
        self.epilogue: Epilogue | None = None
        self.call: LibraryCall | Reason = _MATCHERS[i.opcode.name](i)
        if isinstance(self.call, MatmulCall):
            self.call = _with_tf32(self.call, i, rates) if tf32 else self.call
            self.epilogue = epilogue_of(i)
        elif isinstance(self.call, ConvolutionCall):
            self.call = _with_tf32(self.call, i, rates) if tf32 else self.call
        self.costs: Costs | None = (
            None if isinstance(self.call, Reason) else costs_of(self.call, rates, i)
        )
        if isinstance(self.call, ConvolutionCall) and self.costs is not None:
            self.costs = with_preparation(self.costs, prepared_bytes(i), rates)

    def facts(self) -> dict[str, Any]:
        """Return the costs of both ways, and the arguments of the call."""
        facts = self.costs.facts() if self.costs is not None else {}
        if isinstance(self.call, MatmulCall):
            facts |= {
                "m": self.call.m,
                "n": self.call.n,
                "k": self.call.k,
                "batch": self.call.batch,
                "compute": self.call.compute,
            }
            facts["epilogue"] = self.epilogue.name if self.epilogue is not None else "none"
        if isinstance(self.call, ConvolutionCall):
            facts |= {
                "form": self.call.form,
                "compute": self.call.compute,
                "prepared": len(prepared_bytes(self.instruction)),
            }
        return facts


def _call(choice: Choice) -> str:
    return (
        described(choice.instruction) if isinstance(choice.call, Reason) else call_name(choice.call)
    )


def _times(choice: Choice) -> str:
    if choice.costs is None:
        return "not estimated"
    return f"library {choice.costs.library_us:.4g} us, own kernel {choice.costs.own_us:.4g} us"


@value_formatter(_call)
def library_has_the_routine(choice: Choice) -> Reason | None:
    """Require a routine of the library."""
    return choice.call if isinstance(choice.call, Reason) else None


@value_formatter(lambda choice: f"{choice.library}: {choice.why_not_there or 'installed'}")
def library_is_there(choice: Choice) -> Reason | None:
    """Require an installed library and a device."""
    if not choice.why_not_there:
        return None
    text = f"{PRODUCTS[choice.library]}: {choice.why_not_there}"
    return refuse("library-unavailable", text, library=choice.library, **choice.facts())


@value_formatter(_call)
def library_has_an_algorithm(choice: Choice) -> Reason | None:
    """Require an algorithm of the library for this call on the present device."""
    return (
        None
        if choice.serves is None or isinstance(choice.call, Reason)
        else choice.serves(choice.call)
    )


@value_formatter(lambda choice: control_edges((choice.instruction,), choice.pinned))
def call_is_free_to_move(choice: Choice) -> Reason | None:
    """Require no control dependencies if another instruction would replace it."""
    i = choice.instruction
    moves = isinstance(choice.call, ConvolutionCall) and bool(prepared_bytes(i))
    if moves and (i.control_predecessors or i in choice.pinned):
        return refuse(
            "control-dependency",
            f"%{i.name} has control dependencies, and another instruction would stand for it",
        )
    return None


@value_formatter(_times)
def library_is_faster(choice: Choice) -> Reason | None:
    """Require a lower estimate for the library."""
    if choice.costs is None or choice.costs.library_us < choice.costs.own_us:
        return None
    assert not isinstance(choice.call, Reason)
    ours, theirs = choice.costs.own_us, choice.costs.library_us
    text = (
        f"%{choice.instruction.name}: our kernel is estimated at {ours:.4g} us, "
        f"{call_name(choice.call)} at {theirs:.4g} us"
    )
    return refuse("own-kernel-faster", text, **choice.costs.facts())


LEGALITY = (
    library_has_the_routine,
    library_is_there,
    call_is_free_to_move,
    library_has_an_algorithm,
)
PROFITABILITY = (library_is_faster,)


@register_pass("gemm-rewriter", "gpusolver-rewriter")
@dataclasses.dataclass(frozen=True)
class LibraryRewriter:
    """Rewrite operations as library calls if that is faster.

    tf32: f32 products may use tensor cores with 10 bits of mantissa unless operand_precision is
    `highest` (XLA's default on GPUs), and do if that saves time; the target's abilities may forbid
    it. epilogues: products absorb a bias and an activation. The available libraries are an ability
    of the target.
    """

    name: ClassVar[str] = "library-rewriter"
    kinds: ClassVar[tuple[str, ...]] = ("library-call",)
    tf32: bool = True
    epilogues: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every candidate of every computation that control flow runs."""
        rates, abilities = Rates.of(context.target), context.target.abilities
        tf32 = self.tf32 and abilities.tf32
        changed = False
        for computation in sequential_computations(module):
            pinned = fusible.control_successors(computation)
            for i in computation.post_order():
                if i.opcode.name in _MATCHERS:
                    changed |= self._one(
                        computation, Choice(i, rates, abilities, tf32, pinned), pinned, context
                    )
        if changed:
            order_callees_first(module)
        return changed

    def _one(
        self,
        computation: HloComputation,
        choice: Choice,
        pinned: set[HloInstruction],
        context: PassContext,
    ) -> bool:
        i = choice.instruction
        if (
            context.decide(
                "library-call", LEGALITY, PROFITABILITY, i, candidate=choice, facts=choice.facts
            )
            is not None
        ):
            return False
        call, epilogue = choice.call, choice.epilogue
        assert not isinstance(call, Reason)
        if (
            isinstance(call, MatmulCall)
            and epilogue is not None
            and self.epilogues
            and _may_join(epilogue, pinned, context)
        ):
            read = [
                i.operands[1],
                i.operands[0],
                *([epilogue.bias] if epilogue.bias is not None else []),
            ]
            fusion = build_fusion(
                computation,
                epilogue.root,
                epilogue.members,
                name=f"{i.name}_{epilogue.name}",
                kind=_CUSTOM,
            )
            places = tuple([fusion.operands.index(o) for o in read])
            annotate(fusion, call._replace(epilogue=epilogue.name, operands=places))
        else:
            annotate(prepared(i) if isinstance(call, ConvolutionCall) else i, call)
        return True


def why_no_library(i: HloInstruction, target: Target) -> Reason | None:
    """Return why an instruction that XLA gives to a library is not a library call here, or None.

    None for instructions that XLA writes kernels for.
    """
    if i.opcode.name not in _MATCHERS:
        return None
    choice = Choice(i, Rates.of(target), target.abilities, target.abilities.tf32)
    return first_refusal(
        (library_has_the_routine, library_is_there, library_has_an_algorithm, library_is_faster),
        choice,
    )


def _with_tf32(call: _Tf32Call, dot: HloInstruction, rates: Rates) -> _Tf32Call:
    fast = call._replace(compute="tf32")
    if call.compute != "f32" or not may_use_tf32(dot) or not rates.library.get("tf32"):
        return call
    exact_us, fast_us = costs_of(call, rates).library_us, costs_of(fast, rates).library_us
    return fast if fast_us < _TF32_SHARE * exact_us and exact_us - fast_us > _TF32_GAIN_US else call


def _may_join(epilogue: Epilogue, pinned: set[HloInstruction], context: PassContext) -> bool:
    if epilogue.name == "none":
        return False
    return not any(
        m.control_predecessors or m in pinned for m in epilogue.members
    ) and not context.control.kept_apart((epilogue.members[-1],), epilogue.members)


_MATCHERS = {"dot": matmul_of, "fft": fft_of, "cholesky": cholesky_of, "triangular-solve": triangular_solve_of,
             "convolution": convolution_of}  # fmt: skip
