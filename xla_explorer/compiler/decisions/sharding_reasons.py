"""Reason codes of sharding propagation: why a value did not take an axis."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

PROPAGATION = table(
    {
        "closed": (
            "the annotation of the value says that no axes may be added to the dimension",
            "result-0 of %dot (%dot) is closed to model",
            "open the dimension: write {?} or P.UNCONSTRAINED in its annotation",
        ),
        "axis-in-use": (
            "another dimension of the value is split along the axis already",
            "operand-1 of %add (%b) uses x for another dimension",
            "annotate the value that decides, so that both sides use the axis alike",
        ),
        "explicitly-replicated": (
            "the annotation of the value says that every device has a copy along the axis",
            "operand-0 of %dot (%w) is replicated along data",
            "remove the axis from replicated={} of the annotation",
        ),
        "unreduced": (
            "the value holds terms of an unfinished sum along the axis",
            "operand-0 of %add (%partial) holds terms of a sum along model",
            "reduce the value first, by a constraint without unreduced axes",
        ),
        "indivisible": (
            "the axis does not divide a factor that is not the last one of its dimension",
            "model does not divide factor j",
            "choose a size of the dimension that the axis divides",
        ),
        "blocked-factor": (
            "the rule of the operation passes no sharding on along this dimension",
            "the rule of operand-0 of %sort (%x) blocks factor i",
            "annotate the result if it should be sharded there; the partitioner reshards",
        ),
        "conflict": (
            "two operands or results of the operation are split along different axes there",
            "operand-1 of %add (%b) is split along other axes than x",
            "annotate one of the two like the other, or constrain it where it is used",
        ),
    }
)
