"""Sharding rules of custom calls, by the name of their target.

Source: Shardy's sdy/transforms/propagation/op_sharding_rule_registry.cc.
"""

from __future__ import annotations

import re
from typing import Final

from xla_explorer.compiler.spmd.rules.elementwise import pointwise
from xla_explorer.compiler.spmd.rules.factor_rule import (
    NEED_REPLICATION,
    PASS_THROUGH,
    FactorKind,
    FactorRule,
)
from xla_explorer.compiler.spmd.rules.registry import at, builder_of, sharding_rule, sizes_of
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.instruction import HloInstruction

_POINTWISE: Final = frozenset(
    (
        "annotate_device_placement",
        "Cholesky",
        "CompactWyHelper",
        "InspectSharding",
        "InvertDiagBlocksLowerTriangular",
        "InvertDiagBlocksUpperTriangular",
        "LayoutConstraint",
        "mhlo.erf",
        "MoveToDevice",
        "MoveToHost",
        "PinToDevice",
        "PinToDeviceSram",
        "Sharding",
        "X64Combine",
        "X64SplitHigh",
        "X64SplitLow",
        "xla.megascale.provide_metadata",
        "xla.sdy.PropagationBarrier",
        "_SPMDInternalOp_MultiPad",
        "_SPMDInternalOp_MultiRotate",
        "_SPMDInternalOp_MultiSlice",
        "_SPMDInternalOp_RotateRight",
        "_SPMDInternalOp_Wrap",
    )
)


@sharding_rule("custom-call")
def custom_call(i: HloInstruction) -> FactorRule | None:
    """Return the rule that the program states, or that of a known target, or None."""
    given = frontend_attribute_values(i.attributes.get("frontend_attributes") or "")
    if "xla.sdy.sharding_rule" in given:
        return read_rule(given["xla.sdy.sharding_rule"])
    target = custom_call_target(i)
    if target in _POINTWISE:
        return pointwise(i)
    if target in ("mhlo.topk", "TopK"):
        source = i.operands[0].shape.dimensions
        return (
            builder_of(i)
            .add_where_equal(source, sizes_of(i), NEED_REPLICATION, blocked=True)
            .build()
        )
    if target in ("Qr", "QrDecompositionBlock", "ProductOfElementaryHouseholderReflectors"):
        return _factorisation(i)
    if target == "Eigh":
        return _eigenvectors(i)
    if target in ("ApproxTopK", "PartialReduce"):
        return _approximate_top_k(i)
    return None


def _factorisation(i: HloInstruction) -> FactorRule:
    """Return the rule: batch dimensions pass; matrix and factors need replication."""
    sizes = i.operands[0].shape.dimensions
    count = len(sizes) - 2
    builder = builder_of(i).add_pointwise(sizes[:count])
    matrix, factors = ((0, 1), 2) if len(i.operands) == 1 else ((0, 2), 1)
    for k in (count, count + 1):
        builder.add(at(i, dict.fromkeys(matrix, k)), sizes[k], NEED_REPLICATION)
    tensors = [*[operand.shape for operand in i.operands], *[leaf for _, leaf in i.shape.leaves()]]
    builder.add(at(i, {factors: count}), tensors[factors].dimensions[count], NEED_REPLICATION)
    return builder.build()


def _eigenvectors(i: HloInstruction) -> FactorRule:
    """Return the rule: every dimension passes through; eigenvalues have the last one."""
    sizes = i.operands[0].shape.dimensions
    row = len(sizes) - 2
    builder = builder_of(i).add_pointwise(sizes[:row])
    builder.add(at(i, {0: row, 1: row}), sizes[row])
    builder.add(at(i, {0: row + 1, 1: row + 1, 2: row}), sizes[row + 1])
    return builder.build()


def _approximate_top_k(i: HloInstruction) -> FactorRule:
    """Return the rule: dimensions of equal size pass; the reduced one is blocked."""
    builder, result = builder_of(i), len(i.operands)
    sizes = i.operands[0].shape.dimensions
    for k, (size, other) in enumerate(zip(sizes, sizes_of(i), strict=True)):
        if size == other:
            builder.add_everywhere(k, size)
        else:
            builder.add(at(i, {0: k, 1: k}), size)
            places = {result: k, result + 1: k}
            builder.add(at(i, places), other, NEED_REPLICATION, blocked=True)
    return builder.build()


_SIDE = re.compile(r"\[([^\[\]]*)\]")
_FACTOR = re.compile(r"[a-z](?:_\d+)?")


def read_rule(text: str) -> FactorRule:
    """Read a rule such as `#sdy.op_sharding_rule<([i, k])->([i]) {i=2, k=4} reduction={k}>`.

    ValueError for other text.
    """
    found = re.search(r"\((.*?)\)\s*->\s*\((.*?)\)\s*(?:\{([^}]*)\})?(.*)", text)
    if found is None:
        raise ValueError(f"expects a sharding rule such as ([i, k])->([i]) {{i=2}} but sees {text}")
    operands, results, sizes, rest = found.groups()
    numbers = {
        name.strip(): int(size)
        for name, size in (one.split("=") for one in (sizes or "").split(",") if one.strip())
    }
    names = list(numbers)

    def side(listed: str) -> tuple[tuple[tuple[int, ...], ...], ...]:
        return tuple(
            tuple(
                tuple(names.index(one) for one in _FACTOR.findall(part))
                for part in tensor.split(",")
                if part.strip()
            )
            for tensor in _SIDE.findall(listed)
        )

    kinds: list[FactorKind] = [PASS_THROUGH] * len(names)
    blocked: set[int] = set()
    for key, listed in re.findall(r"(\w+)=\{([^}]*)\}", rest):
        for name in _FACTOR.findall(listed):
            if key == "blocked_propagation":
                blocked.add(names.index(name))
            else:
                kinds[names.index(name)] = FactorKind(key)
    return FactorRule(
        tuple(numbers.values()),
        side(operands),
        side(results),
        tuple(kinds),
        frozenset(blocked),
        custom=True,
    )
