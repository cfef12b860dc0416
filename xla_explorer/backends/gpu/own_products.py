"""Estimates of products in our own kernels, which `library-rewriter` compares with the library."""

from __future__ import annotations

import dataclasses

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.convolutions.implicit_gemm import (
    loop_us,
    served_convolution,
)
from xla_explorer.backends.gpu.emitters.products import PRODUCT_ROWS
from xla_explorer.compiler.target import OwnProduct
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


@dataclasses.dataclass(frozen=True)
class OwnProducts:
    """Ability of the target: the product emitters in order, since passes have no device."""

    architecture: GpuArchitecture

    def __call__(self, dot: HloInstruction) -> OwnProduct | None:
        """Return the first matching emitter and its arithmetic.

        None if no plan has an estimate (skinny products are memory-bound).
        """
        for row in PRODUCT_ROWS:
            if row.opcode != dot.opcode.name:
                continue
            plan = row.plan(dot, self.architecture)
            if not isinstance(plan, Reason):
                estimate = row.estimate(plan, self.architecture)
                return None if estimate is None else OwnProduct(row.name, estimate)
        if dot.opcode.name != "convolution":
            return None
        served = served_convolution(dot)
        return (
            None
            if isinstance(served, Reason)
            else OwnProduct("loop", loop_us(served, self.architecture))
        )
