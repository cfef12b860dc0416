"""npu-fusion: chains of elementwise work become one visit to the scratchpad.

Built from the same parts as any pass of xla_explorer.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.plugin import (
    HloComputation,
    HloInstruction,
    HloModule,
    PassContext,
    Reason,
    build_fusion,
    order_callees_first,
    refuse,
    register_pass,
    sequential_computations,
)
from xla_explorer_npu.lowering.elementwise import ELEMENTWISE
from xla_explorer_npu.lowering.writer import element_types_are_known, supports


def is_vector_work(producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
    """Accept elementwise producers, broadcasts that a load can do, and scalar constants."""
    name = producer.opcode.name
    if name in ELEMENTWISE:
        return supports(producer)
    if name == "broadcast" or (name == "constant" and producer.shape.is_scalar):
        return element_types_are_known(producer)
    return refuse(
        "not-vector-work", f"%{producer.name} ({name}) is done elsewhere than in the vector unit"
    )


def has_the_same_index(producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
    """Accept producers that compute element k from element k.

    A broadcast inside a tile is impossible, so broadcasts end a chain.
    """
    if producer.opcode.name == "constant":
        return None
    if (
        consumer.opcode.name == "broadcast"
        or producer.shape.dimensions != consumer.shape.dimensions
    ):
        return refuse(
            "dimensions-differ",
            f"%{producer.name} is {producer.shape.text_without_layout}, %{consumer.name} "
            f"{consumer.shape.text_without_layout}: not one loop",
        )
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class NpuFusion:
    """max_members: instructions in one fusion; each needs room in the scratchpad while it lives."""

    name: ClassVar[str] = "npu-fusion"
    max_members: int = 48

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fuse in every sequential computation, from the results upwards."""
        changed = False
        for computation in sequential_computations(module):
            taken: set[HloInstruction] = set()
            for root in reversed(computation.post_order()):
                if (
                    root in taken
                    or root.opcode.name not in ELEMENTWISE
                    or supports(root) is not None
                    or not root.shape.element_count
                ):
                    continue
                members = self._group(root, context)
                taken.update(members)
                if len(members) > 1:
                    order = {i: k for k, i in enumerate(computation.post_order())}
                    self._build(computation, root, sorted(members, key=lambda i: -order[i]))
                    changed = True
        if changed:
            order_callees_first(module)
        return changed

    def _group(self, root: HloInstruction, context: PassContext) -> list[HloInstruction]:
        members: dict[HloInstruction, None] = {root: None}

        def is_read_here_only(producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
            if producer.opcode.name in ("broadcast", "constant") or all(
                user in members for user in producer.users
            ):
                return None
            return refuse(
                "used-elsewhere",
                f"%{producer.name} is read outside too: it would be computed twice",
            )

        def there_is_room(producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
            if len(members) < self.max_members:
                return None
            return refuse(
                "fusion-full",
                f"the fusion of %{root.name} has {len(members)} instructions",
                limit=self.max_members,
            )

        # Again until nothing joins: a producer of two members is refused while only one of them is
        # in.
        joined = True
        while joined:
            joined = False
            for consumer in list(members):
                for producer in consumer.operands:
                    if producer in members or producer.opcode.name in (
                        "parameter",
                        "get-tuple-element",
                    ):
                        continue
                    checks = (is_vector_work, has_the_same_index)
                    if (
                        context.decide(
                            "fusion", checks, (is_read_here_only, there_is_room), producer, consumer
                        )
                        is None
                    ):
                        members[producer] = None
                        joined = True
        return list(members)

    @staticmethod
    def _build(
        computation: HloComputation, root: HloInstruction, members: list[HloInstruction]
    ) -> None:
        build_fusion(computation, root, members, computation_name="npu_fusion")
