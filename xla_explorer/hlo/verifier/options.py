"""Options of the verifier. Source: hlo_verifier.h HloVerifierOpts, with XLA's defaults.

`allow_unbounded_dynamism` is the exception.
"""

from __future__ import annotations

from typing import NamedTuple


class VerifierOptions(NamedTuple):
    """Options of the verifier.

    layout_sensitive: layouts of operands, results and the header must agree, and only host
    transfers may leave or enter host memory; for modules after layout assignment.
    allow_mixed_precision: float operands of one instruction and the stated result may differ in
    precision; for modules before float normalization.
    allow_unbounded_dynamism: `f32[?]` is allowed (XLA: false; StableHLO texts often have it).
    ordered_broadcast_dimensions: the dimensions of a broadcast must ascend, as some backends
    require.
    """

    layout_sensitive: bool = False
    allow_mixed_precision: bool = False
    allow_unbounded_dynamism: bool = True
    ordered_broadcast_dimensions: bool = False


DEFAULT_OPTIONS = VerifierOptions()
