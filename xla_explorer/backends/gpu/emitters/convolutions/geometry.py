"""A convolution as implicit GEMM.

Positions x (taps, input features) are multiplied by (taps, input features) x features. No patches
are copied: an element of the first matrix is an element of the image at a computed address, or zero
outside. There is one product for each group of features (or of the batch). For a dilated image
there is one for each phase: positions that see the same taps form their own product, so that the
zeros between the elements are not multiplied.

The zero outside the image is a factor, as in XLA:CPU's kernels and cuDNN's: beside a tap with an
infinite or NaN weight, the padding makes the result NaN. The evaluator, the depthwise kernels and
kernels of one thread an element skip padded taps. Without such weights all agree.

Source: S. Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning", 2014 (implicit
products); StableHLO, "convolution".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.dots.implicit_matrix import Axis
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.window_phases import MOST_PHASES, Phase, all_phases
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction


class Spatial(NamedTuple):
    """A spatial dimension.

    size: of the image. image, weights, result: strides. phases: see `Phase`.
    """

    size: int
    image: int
    weights: int
    result: int
    phases: tuple[Phase, ...]
    rule: WindowDimension

    @property
    def positions(self) -> int:
        """Maximum number of positions of a phase."""
        return max(phase.outputs for phase in self.phases)

    @property
    def taps(self) -> int:
        """Maximum number of taps of a phase, at least one."""
        return max(1, *[phase.taps for phase in self.phases])

    @property
    def leaves_image(self) -> bool:
        """True if some position and tap of a phase are outside the image."""
        for p in self.phases:
            last = p.start + (self.positions - 1) * p.stride + (self.taps - 1) * p.spread
            if p.start < 0 or last >= self.size:
                return True
        return False

    @property
    def uneven_taps(self) -> bool:
        """True if phases differ in their number of taps."""
        return any(phase.taps != self.taps for phase in self.phases)

    @property
    def uneven_positions(self) -> bool:
        """True if phases differ in their number of positions."""
        return any(phase.outputs != self.positions for phase in self.phases)

    def first_weight(self, phase: Phase) -> int:
        """Return the offset in elements of a phase's first tap in the weights."""
        return (
            self.rule.size - 1 - phase.tap if self.rule.window_reversal else phase.tap
        ) * self.weights


class ConvolutionProduct(NamedTuple):
    """A convolution as matrix products.

    positions: axes of the image (strides) and the result, major first in the image. reduced: (axis
    of the image, axis of the weights) of each reduced dimension. features: axis of the weights and
    the result, of one group. group_strides: from a group to the next, of image, weights, result.
    """

    positions: tuple[Axis, ...]
    reduced: tuple[tuple[Axis, Axis], ...]
    features: Axis
    spatial: tuple[Spatial, ...]
    groups: int
    group_strides: tuple[int, int, int]

    @property
    def positions_in_all(self) -> int:
        """Positions of one product."""
        return math.prod([axis.extent for axis in self.positions])

    @property
    def depth(self) -> int:
        """Terms of each sum."""
        return math.prod([image.extent for image, _ in self.reduced])

    @property
    def features_are_rows(self) -> bool:
        """True if positions, not features, are contiguous in the result and become its columns."""
        minor = next((a for a in reversed(self.positions) if a.extent > 1), None)
        return (
            minor is not None and self.features.result != 1 and minor.result < self.features.result
        )

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of the stored result."""
        sides = self.positions_in_all, self.features.extent
        return sides[::-1] if self.features_are_rows else sides

    @property
    def sums(self) -> tuple[int, ...]:
        """Dimensions of all products, without phases: several phases exclude split-K."""
        return (self.groups, *self.sides)

    @property
    def sentence(self) -> str:
        """Description of the products."""
        words = f"{self.sides[0]} x {self.sides[1]} x {self.depth}"
        if self.groups > 1:
            words += f", {self.groups} groups"
        return (
            words
            if self.products == self.groups
            else f"{words}, {self.products // self.groups} phases"
        )

    @property
    def together(self) -> int:
        """Length that divides every contiguous, aligned run of columns."""
        others = [self.group_strides[2]] if self.groups > 1 else []
        others += [phase.first * one.result for one in self.spatial for phase in one.phases]
        axes = [a for a in self.positions if a.extent > 1]
        if not self.features_are_rows:
            run = self.features.extent if self.features.result == 1 else 1
            return math.gcd(run, *others, *[a.result for a in axes])
        run = 1
        while axes and axes[-1].result == run:
            run *= axes.pop().extent
        return math.gcd(run, self.features.result, *others, *[a.result for a in axes])

    @property
    def phases(self) -> tuple[int, ...]:
        """Number of phases of each spatial dimension."""
        return tuple([len(one.phases) for one in self.spatial])

    @property
    def products(self) -> int:
        """Number of products: groups times phases."""
        return self.groups * math.prod(self.phases)


def convolution_product(i: HloInstruction) -> ConvolutionProduct | Reason:
    """Return the products of a convolution, or a refusal."""
    lhs, rhs = i.operands
    labels, rules = (
        i.attribute("dim_labels"),
        i.attribute("window").dimensions if i.attribute("window") else (),
    )
    if 0 in (*i.shape.dimensions, *lhs.shape.dimensions, *rhs.shape.dimensions):
        return refuse("empty-convolution", f"%{i.name} has no multiplication")
    features, batches = i.attribute("feature_group_count"), i.attribute("batch_group_count")
    groups = max(features, batches)
    image, weights, result = lhs.shape.strides, rhs.shape.strides, i.shape.strides
    depth, batch = (
        rhs.shape.dimensions[labels.kernel_input_feature],
        i.shape.dimensions[labels.output_batch],
    )
    per_group = i.shape.dimensions[labels.output_feature] // groups
    spatial = []
    for rule, a, b, c in zip(
        rules, labels.input_spatial, labels.kernel_spatial, labels.output_spatial, strict=True
    ):
        found = tuple(all_phases(rule, i.shape.dimensions[c]))
        spatial.append(
            Spatial(lhs.shape.dimensions[a], image[a], weights[b], result[c], found, rule)
        )
    if math.prod([len(one.phases) for one in spatial]) > MOST_PHASES:
        return refuse(
            "too-many-phases",
            f"the outputs of %{i.name} use too many different sets of taps",
            most=MOST_PHASES,
        )
    positions = [Axis(batch, image[labels.input_batch], result[labels.output_batch])]
    reduced = []
    for number, one in enumerate(spatial):
        phase = one.phases[0]
        positions.append(
            Axis(one.positions, phase.stride * one.image, phase.step * one.result, number)
        )
        towards = -phase.tap_step if one.rule.window_reversal else phase.tap_step
        reduced.append(
            (
                Axis(one.taps, phase.spread * one.image, 0, number),
                Axis(one.taps, towards * one.weights, 0, number),
            )
        )
    last = (
        Axis(depth, image[labels.input_feature], 0),
        Axis(depth, weights[labels.kernel_input_feature], 0),
    )
    # Axes of extent one stay, so that every spatial dimension has its own; major first, for
    # contiguous accesses.
    positions.sort(key=lambda axis: (axis.extent > 1, -axis.stride))
    reduced.append(last)
    if (
        positions[-1].stride < last[0].stride
        and last[1].stride < weights[labels.kernel_output_feature]
    ):
        reduced.sort(
            key=lambda pair: (pair[1].extent > 1, -abs(pair[1].stride))
        )  # the image is read by positions, the weights by these
    group_image = (
        batch * image[labels.input_batch] if batches > 1 else depth * image[labels.input_feature]
    )
    strides = (
        group_image,
        per_group * weights[labels.kernel_output_feature],
        per_group * result[labels.output_feature],
    )
    kept = Axis(per_group, weights[labels.kernel_output_feature], result[labels.output_feature])
    return ConvolutionProduct(
        tuple(positions), tuple(reduced), kept, tuple(spatial), groups, strides
    )
