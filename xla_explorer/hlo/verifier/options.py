"""What the verifier lets pass. Source: hlo_verifier.h HloVerifierOpts; the defaults are XLA's unless said otherwise."""

from __future__ import annotations

from typing import NamedTuple


class VerifierOptions(NamedTuple):
    """layout_sensitive: layouts of operands, results and the header must agree where XLA wants them to, and only host
    transfers may leave or enter host memory; for modules after layout assignment. allow_mixed_precision: float operands of
    one instruction may differ in precision, and so may the stated result; for modules before float normalization.
    allow_unbounded_dynamism: `f32[?]` is allowed (XLA: false; StableHLO texts are full of it).
    ordered_broadcast_dimensions: the dimensions of a broadcast ascend; some backends want that.
    """

    layout_sensitive: bool = False
    allow_mixed_precision: bool = False
    allow_unbounded_dynamism: bool = True
    ordered_broadcast_dimensions: bool = False


DEFAULT_OPTIONS = VerifierOptions()
