"""The cost of a refused fusion: the time and the bytes that a single kernel would save.

If the policy compared both variants, the cost is its own estimate. If it refused earlier, the cost
is an upper bound and marked as one: the saved traffic and launch by the target's cost model, as if
computing both together were free. A cost without a number has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.module import ModuleSnapshot

if TYPE_CHECKING:
    from xla_explorer.compiler.pipeline import PassTrace

_PRODUCER_CONSUMER_KINDS = frozenset({"fusion", "dot-epilogue-fusion", "normalization-fusion"})


class RefusalCost(NamedTuple):
    """The cost of a refusal in one run.

    Attributes
    ----------
    microseconds, size : float, int or None
        Time and bytes; None if they cannot be estimated.
    at_most : bool
        True for an upper bound.
    reason : Reason, optional
        The reason why there is no estimate.
    """

    microseconds: float | None
    size: int | None
    at_most: bool
    reason: Reason | None = None

    def facts(self) -> dict[str, Any]:
        """Return the cost as facts of a decision; the keys have the units."""
        if self.reason is not None:
            return {"refusal_costs": f"not estimable: {self.reason.message}"}
        word = "refusal_costs_at_most" if self.at_most else "refusal_costs"
        found: dict[str, Any] = {f"{word}_microseconds": self.microseconds}
        if self.size is not None:
            found[f"{word}_bytes"] = self.size
        return found

    @cleaned
    def __str__(self) -> str:
        if self.reason is not None:
            return f"cost of the refusal: not estimable: {self.reason.message}"
        if self.microseconds == 0 and not self.at_most:
            return "cost of the refusal: none, two kernels are faster (cost model)"
        size = f" and {self.size} bytes of traffic" if self.size is not None else ""
        return f"cost of the refusal: {'at most ' if self.at_most else ''}{self.microseconds:.3g} us{size} a run (cost model)"


class RefusalCosts:
    """The costs of one trace's refusals. before: the module before fusion."""

    def __init__(
        self, trace: PassTrace, before: ModuleSnapshot, records: Mapping[int, InstructionRecord]
    ) -> None:
        self._records = records
        self._readers: dict[int, int] = {}
        for computation in before.computations:
            for record in computation.instructions:
                for operand in set(record.operands):
                    self._readers[operand] = self._readers.get(operand, 0) + 1
        self._target, self._cpu = trace.target, FusionCostModel(trace.target)

    def of(self, decision: Decision) -> RefusalCost | None:
        """Return the cost of a refused fusion; None for another decision."""
        if not decision.refused or decision.kind not in FUSION_KINDS:
            return None
        facts = decision.facts
        fused, unfused = facts.get("fused_microseconds"), facts.get("unfused_microseconds")
        if isinstance(fused, int | float) and isinstance(unfused, int | float):
            size = facts.get("bytes_saved") if unfused > fused else 0
            return RefusalCost(
                max(0.0, unfused - fused), size if isinstance(size, int) else None, False
            )
        ends = [self._records.get(key) for key in decision.subjects]
        if len(ends) < 2 or any(end is None for end in ends):
            message = (
                "one of its instructions is not recorded"
                if len(ends) > 1
                else "the decision is about one instruction, not a pair"
            )
            return RefusalCost(
                None, None, False, Reason("no-pair", message, {"subjects": len(ends)})
            )
        known = [end for end in ends if end is not None]
        return (
            self._producer_consumer_cost(known[0])
            if decision.kind in _PRODUCER_CONSUMER_KINDS
            else self._siblings_cost(known)
        )

    def _producer_consumer_cost(self, producer: InstructionRecord) -> RefusalCost:
        """Return the cost of not fusing a producer: the consumer reads its result from memory.

        If it is the only reader, the store and a launch are saved too.
        """
        if not producer.shape.is_array:
            shape = producer.shape.text_without_layout
            message = f"%{producer.name} has the shape {shape}: which part stays in registers depends on its kernel"
            return RefusalCost(
                None, None, False, Reason("tuple-or-token", message, {"shape": shape})
            )
        size = producer.shape.byte_size
        alone = self._readers.get(producer.id, 1) <= 1 and producer.opcode.name not in (
            "parameter",
            "constant",
        )
        return self._saved([size, size] if alone else [size], alone)

    def _siblings_cost(self, ends: Sequence[InstructionRecord]) -> RefusalCost:
        """Return the cost of not fusing siblings: common operands are read twice, plus a launch."""
        shared = set(ends[0].operands).intersection(*[end.operands for end in ends[1:]])
        shapes = [self._records[key].shape for key in shared if key in self._records]
        return self._saved([shape.byte_size for shape in shapes if shape.is_array], True)

    def _saved(self, passes: Sequence[int], launch: bool) -> RefusalCost:
        gpu = self._target.gpu
        if gpu is not None:
            nanoseconds = sum(passes) / gpu.dram_bytes_per_nanosecond + (
                self._target.launch.nanoseconds if launch else 0.0
            )
        else:
            nanoseconds = sum([self._cpu.traffic(size) for size in passes]) + (
                self._cpu.launch if launch else 0.0
            )
        return RefusalCost(nanoseconds / 1e3, sum(passes), True)
