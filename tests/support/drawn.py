"""Drawing of examples: the same on every run, on a machine of any speed."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

DRAWN = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
