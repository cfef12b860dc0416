"""The timeline merges neighbours that are too narrow to see, and keeps their times."""

from __future__ import annotations

from tests.explorer.views.asset_script import AssetScript

_SEEN = "(times, from, to) => seenSpans(times.map((microseconds, k) => ({ name: 'k' + k, microseconds })), from, to).map(s => [s.span.name, s.at, s.count, s.length])"


def test_a_thousand_kernels_are_as_many_shapes_as_there_are_pixels_until_somebody_zooms() -> None:
    script = AssetScript()
    times = [100.0, *[0.001] * 5000, 50.0]
    far = script.call(_SEEN, times, 0, sum(times))
    assert len(far) < 60 and sum(count for _, _, count, _ in far) == len(times)
    assert abs(sum(length for *_, length in far) - sum(times)) < 1e-6
    near = script.call(_SEEN, times, 100, 100.05)
    assert [count for _, _, count, _ in near] == [1] * len(near) and 49 <= len(near) <= 52
