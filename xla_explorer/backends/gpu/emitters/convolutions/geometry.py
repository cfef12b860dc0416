"""A convolution as products of matrices: positions of the result x taps and input features, times taps and input features x features.

No patches are copied: an element of the first matrix is an element of the image, found by where it stands, or zero outside. One product
for each group of features (or of the batch), and for each phase where the image is dilated: there the positions that see the same taps are
a product of their own, so nothing is multiplied with the zeros between the elements.

The zero outside the image is a factor like any other, as in XLA:CPU's kernels and cuDNN's: beside a tap whose weight is infinite or NaN,
the padding makes the result NaN. The evaluator, the depthwise kernels and those of one thread an element leave padded taps out. Without
such weights all agree.

Source: S. Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning", 2014 (implicit products); StableHLO, "convolution".
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.dots.gathered_matrix import Axis
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.window_phases import MOST_PHASES, Phase, all_phases
from xla_explorer.hlo.attributes import WindowDimension
from xla_explorer.hlo.instruction import HloInstruction


class Spatial(NamedTuple):
    """A spatial dimension. size: of the image. strides: of the image, the weights, the result; phases: see `Phase`."""

    size: int
    image: int
    weights: int
    result: int
    phases: tuple[Phase, ...]
    rule: WindowDimension

    @property
    def positions(self) -> int:
        """The most that a phase has."""
        return max(phase.outputs for phase in self.phases)

    @property
    def taps(self) -> int:
        """The most that a phase has, at least one."""
        return max(1, *[phase.taps for phase in self.phases])

    @property
    def leaves_image(self) -> bool:
        """Whether a position and a tap of some phase are outside the image."""
        for p in self.phases:
            last = p.start + (self.positions - 1) * p.stride + (self.taps - 1) * p.spread
            if p.start < 0 or last >= self.size:
                return True
        return False

    @property
    def uneven_taps(self) -> bool:
        """Whether some phase has fewer taps than another."""
        return any(phase.taps != self.taps for phase in self.phases)

    @property
    def uneven_positions(self) -> bool:
        """Whether some phase has fewer positions than another."""
        return any(phase.outputs != self.positions for phase in self.phases)

    def first_weight(self, phase: Phase) -> int:
        """Elements from the beginning of the weights to a phase's first tap."""
        return (
            self.rule.size - 1 - phase.tap if self.rule.window_reversal else phase.tap
        ) * self.weights


class ConvolutionProduct(NamedTuple):
    """positions: axes of the image (strides) and the result, major first in the image. taps: (axis of the image, axis of the weights) of
    each reduced dimension. features: axis of the weights and the result, of one group. group_strides: from a group to the next, of image,
    weights, result."""

    positions: tuple[Axis, ...]
    reduced: tuple[tuple[Axis, Axis], ...]
    features: Axis
    spatial: tuple[Spatial, ...]
    groups: int
    group_strides: tuple[int, int, int]

    @property
    def positions_in_all(self) -> int:
        """Of one product."""
        return math.prod([axis.extent for axis in self.positions])

    @property
    def depth(self) -> int:
        """Products that are added."""
        return math.prod([image.extent for image, _ in self.reduced])

    @property
    def features_are_rows(self) -> bool:
        """Whether the positions are the columns of what is stored: neighbours in the result are positions, not features."""
        minor = next((a for a in reversed(self.positions) if a.extent > 1), None)
        return (
            minor is not None and self.features.result != 1 and minor.result < self.features.result
        )

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of what is stored."""
        sides = self.positions_in_all, self.features.extent
        return sides[::-1] if self.features_are_rows else sides

    @property
    def sums(self) -> tuple[int, ...]:
        """The dimensions of all products. Phases are no part of it: where there are several, nothing is reduced in parts."""
        return (self.groups, *self.sides)

    @property
    def sentence(self) -> str:
        """The products in words."""
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
        """Columns lie together in runs of a multiple of so many, each beginning at a multiple of its size."""
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
        """How many, of each spatial dimension."""
        return tuple([len(one.phases) for one in self.spatial])

    @property
    def products(self) -> int:
        """Of groups and phases."""
        return self.groups * math.prod(self.phases)


def convolution_product(i: HloInstruction) -> ConvolutionProduct | Reason:
    """The products that a convolution is, or why it is not served."""
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
            f"the outputs of %{i.name} use too many different parts of the window",
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
    # Axes of one index stay, so that every spatial dimension has its own; major first, so that neighbours are neighbours in memory.
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
