"""Every code with which a pass that fills kernels may refuse, by the kind of the decision: closed lists, one sentence a code.

`notebooks/fusion_reasons.md` is made from them; a test reads the passes' sources and fails on a code that is missing here or never used.
"""

from __future__ import annotations

from xla_explorer.compiler.transforms.fusion.dot_epilogue_fusion import EPILOGUE_REASONS
from xla_explorer.compiler.transforms.fusion.horizontal_fusion import HORIZONTAL_REASONS
from xla_explorer.compiler.transforms.fusion.multi_output_fusion import MULTI_OUTPUT_REASONS
from xla_explorer.compiler.transforms.fusion.policy import FUSION_REASONS
from xla_explorer.compiler.transforms.fusion.xla_policy import XLA_FUSION_REASONS

# What the user's wishes do to a decision of any kind (see `PassControl`).
USER_REASONS: dict[str, str] = {
    "forbidden-by-user": "the user wants the two in different kernels",
    "skipped-by-user": "the user skips every decision of this kind",
    "stopped-by-user": "the user stops after so many actions, and there were as many before",
}

ROW_REASONS: dict[str, str] = {
    "row-length": "a block of threads cannot keep a row of that length in its registers",
    "fused-computation-too-large": "the kernel would compute or read too much at once",
    "row-value-used-elsewhere": "a value of the rows is needed outside, so it would have to be stored after all",
    "too-few-rows": "a block for each row would leave multiprocessors idle",
    "forbidden-by-user": "the user wants the two in different kernels",
}

WRAPPER_REASONS: dict[str, str] = {
    **{code: FUSION_REASONS[code] for code in ("consumer-not-fusible", "layout-differs", "control-dependency")},
    "copied-as-it-is": "by XLA's policy: bytes that keep their order are copied in one piece",
}


def _without(table: dict[str, str], *codes: str) -> dict[str, str]:
    return {code: text for code, text in table.items() if code not in codes}


REASONS_BY_KIND: dict[str, dict[str, str]] = {
    "fusion": {**FUSION_REASONS, **_without(XLA_FUSION_REASONS, *FUSION_REASONS)},
    "fusion-wrapper": WRAPPER_REASONS,
    "multi-output-fusion": MULTI_OUTPUT_REASONS,
    "horizontal-loop-fusion": _without(HORIZONTAL_REASONS, "not-a-reduce", "dimensions-differ"),
    "horizontal-input-fusion": _without(HORIZONTAL_REASONS, "not-a-loop"),
    "row-fusion": ROW_REASONS,
    "dot-epilogue-fusion": EPILOGUE_REASONS,
}
