"""XLA's decisions, repeated by our policies on XLA's own snapshots and compared."""

from xla_explorer.explorer.xla.replay.fusion import ReplayedFusion
from xla_explorer.explorer.xla.replay.replaying import replay, replay_fusion
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow

__all__ = ["Replay", "ReplayRow", "ReplayedFusion", "replay", "replay_fusion"]
