"""What a product would take in our own kernel, by that kernel's plan: what `library-rewriter` weighs the library against."""

from __future__ import annotations

import dataclasses

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.convolutions.depthwise_convolution import plan_depthwise_convolution
from xla_explorer.backends.gpu.emitters.convolutions.gathered_convolution import loop_us, served_convolution
from xla_explorer.backends.gpu.emitters.convolutions.tensor_core_convolution import plan_tensor_core_convolution
from xla_explorer.backends.gpu.emitters.convolutions.tiled_convolution import plan_tiled_convolution
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import plan_dot
from xla_explorer.backends.gpu.emitters.dots.thin_dot import plan_thin_dot
from xla_explorer.backends.gpu.emitters.dots.tiled_dot import plan_tiled_dot
from xla_explorer.backends.gpu.emitters.dots.warpgroup_dot import plan_warpgroup_dot
from xla_explorer.compiler.target import OwnProduct
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


@dataclasses.dataclass(frozen=True)
class OwnProducts:
    """An ability of the target, since passes know no device. Asked in the order of the emitters (`emitters.selection`)."""

    architecture: GpuArchitecture

    def __call__(self, dot: HloInstruction) -> OwnProduct | None:
        """The emitter and its arithmetic; None where no plan of a product has an estimate (thin ones are bound by memory)."""
        architecture = self.architecture
        if dot.opcode.name == "convolution":
            return self._convolution(dot)
        by_groups, by_warps = plan_warpgroup_dot(dot, architecture), plan_dot(dot, architecture)
        if not isinstance(by_groups, Reason) and (isinstance(by_warps, Reason) or by_groups.estimated_us <= by_warps.estimated_us):
            return OwnProduct("warpgroup-dot", by_groups.estimated_us)
        if not isinstance(by_warps, Reason):
            return OwnProduct("tensor-core-dot", by_warps.estimated_us)
        if not isinstance(plan_thin_dot(dot, architecture), Reason):
            return None
        tiled = plan_tiled_dot(dot, architecture)
        return None if isinstance(tiled, Reason) else OwnProduct("tiled-dot", tiled.blocks.estimated_us)

    def _convolution(self, i: HloInstruction) -> OwnProduct | None:
        direct = plan_depthwise_convolution(i, self.architecture)
        if not isinstance(direct, Reason):
            return OwnProduct("depthwise-convolution", direct.estimated_us)
        by_warps = plan_tensor_core_convolution(i, self.architecture)
        if not isinstance(by_warps, Reason):
            return OwnProduct("tensor-core-convolution", by_warps.dot.estimated_us)
        tiled = plan_tiled_convolution(i, self.architecture)
        if not isinstance(tiled, Reason):
            return OwnProduct("tiled-convolution", tiled.blocks.estimated_us)
        served = served_convolution(i)
        return None if isinstance(served, Reason) else OwnProduct("loop", loop_us(served, self.architecture))
