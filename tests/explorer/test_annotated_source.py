"""The listing behind `%%hlo --annotate`: which line is computed where, and what it costs."""

from __future__ import annotations

import pandas
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

TEXT = """HloModule m
ENTRY e {
  x = f32[256,128] parameter(0)
  w = f32[128,64] parameter(1)
  d = f32[256,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  e = f32[256,64] exponential(d)
  one = f32[] constant(1)
  o = f32[256,64] broadcast(one), dimensions={}
  a = f32[256,64] add(e, o)
  ROOT l = f32[256,64] log(a)
}"""


@pytest.fixture
def session() -> xe.Session:
    return xe.compile(TEXT)


def test_a_line_belongs_to_the_kernels_that_compute_it_not_to_those_that_read_it(
    session: xe.Session,
) -> None:
    lines = {
        line.text.split("=")[0].strip(): line for line in session.annotate(measure=False).lines
    }
    assert len(lines["d"].kernels) == 1 and lines["d"].kernels != lines["e"].kernels
    assert lines["e"].kernels == lines["a"].kernels == lines["ROOT l"].kernels
    assert lines["x"].kernels == ()


def test_shares_come_from_the_last_profile(session: xe.Session) -> None:
    names = [step.name for step in program_steps(session)]
    rows = [
        {"kernel": "(whole program)", "median_us": 10.0},
        *[{"kernel": f"%{n}", "median_us": 3.0 + k} for k, n in enumerate(names)],
    ]
    session.last_profile = pandas.DataFrame(rows)
    listing = session.annotate(measure=False)
    total = sum(3.0 + k for k in range(len(names)))
    by_kernel: dict[str, float] = {}
    for line in listing.lines:
        for name in line.kernels[:1]:
            by_kernel[name] = by_kernel.get(name, 0.0) + (line.share or 0.0)
    assert by_kernel == pytest.approx({name: (3.0 + k) / total for k, name in enumerate(names)})
    assert sum([line.share or 0.0 for line in listing.lines]) == pytest.approx(1.0)
    fused = [line for line in listing.lines if line.share and line.lines > 1]
    assert len(fused) >= 3 and all(line.share < 0.99 for line in fused if line.share)
    assert all(line.time_text.startswith("~") and "lines in 1 kernel" in line.time_text for line in fused)  # fmt: skip
    alone = [line for line in listing.lines if line.share and line.lines == 1]
    assert alone and not any("~" in line.time_text for line in alone)
    assert listing.to_html().count("rgba(") == len([line for line in listing.lines if line.share])


def test_every_line_with_code_unfolds_and_size_is_bounded(
    session: xe.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xla_explorer.explorer.code import annotated_source

    listing = session.annotate(measure=False)
    assert listing.to_html().count("<details") == len([line for line in listing.lines if line.code])
    monkeypatch.setattr(annotated_source, "MOST_CHARACTERS", 2_000)
    assert "left out for size" in listing.to_html()


def test_a_built_module_is_annotated_as_it_prints() -> None:
    builder = xe.HloBuilder("built")
    x = builder.parameter(xe.f32[8], "x")
    listing = xe.compile(builder.build(x.exp())).annotate(measure=False)
    assert any("exponential" in line.text and line.code for line in listing.lines)
