"""`xe.xla`: the decisions and times of real XLA, with their reasons."""

from xla_explorer.explorer.xla.profile import XlaProfile, read_profile
from xla_explorer.explorer.xla.replay import (
    Replay,
    ReplayedFusion,
    ReplayRow,
    replay,
    replay_fusion,
)
from xla_explorer.explorer.xla.what_if import WhatIf
from xla_explorer.explorer.xla.why_slow import WhySlow
from xla_explorer.frontends.xla_profile import ProfileError

__all__ = [
    "ProfileError", "Replay", "ReplayRow", "ReplayedFusion", "WhatIf", "WhySlow", "XlaProfile", "read_profile", "replay", "replay_fusion",
]  # fmt: skip
