"""How examples are drawn: the same each time, on a machine of any pace."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

DRAWN = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
