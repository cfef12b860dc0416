"""Profile times by source line and name scope; kernels of several lines are split by cost."""

from __future__ import annotations

import copy
import pickle

import pandas
import pytest

import xla_explorer as xe

TEXT = """HloModule m

ENTRY e {
  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer/dot" source_file="model.py" source_line=3}
  t = f32[64,64] tanh(d), metadata={op_name="jit(f)/layer/tanh" source_file="model.py" source_line=4}
  n = f32[64,64] negate(t), metadata={op_name="jit(f)/loss/neg" source_file="model.py" source_line=5}
  ROOT r = f32[64,64] exponential(n)
}
"""  # fmt: skip


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1, passes="fusion")


def test_the_sums_are_the_kernels(session: xe.Session) -> None:
    profile = session.profile(repeats=2)
    whole = profile["median_us"][1:].sum()
    for frame in (profile.by_line(), profile.by_scope()):
        assert frame["median_us"].sum() == pytest.approx(whole) and frame[
            "share"
        ].sum() == pytest.approx(1.0)
        assert list(frame["median_us"]) == sorted(frame["median_us"], reverse=True)


def test_a_kernel_of_several_lines_is_split_by_cost_and_says_so(session: xe.Session) -> None:
    profile = session.profile(repeats=1)
    times = {row["opcode"]: row["median_us"] for row in profile[1:].to_dict("records")}
    rows = {row["line"]: row for row in profile.by_line().to_dict("records")}
    assert set(rows) == {"model.py:3", "model.py:4", "model.py:5", "<hlo>:8"}
    assert rows["model.py:3"]["estimated_us"] == 0 and rows["model.py:3"][
        "median_us"
    ] == pytest.approx(times["dot"])
    fused = [rows[line] for line in ("model.py:4", "model.py:5", "<hlo>:8")]
    assert all(row["estimated_us"] == row["median_us"] > 0 and row["kernels"] == 1 for row in fused)
    assert sum(row["median_us"] for row in fused) == pytest.approx(times["fusion"])
    assert len({round(row["share"], 9) for row in fused}) == 1, (
        "each makes the same bytes, by one operation an element"
    )


def test_scopes_are_those_of_the_metadata(session: xe.Session) -> None:
    rows = {
        row["scope"]: row["kernels"]
        for row in session.profile(repeats=1).by_scope().to_dict("records")
    }
    assert rows == {"jit(f)/layer": 2, "jit(f)/loss": 1, "(no scope)": 1}


def test_an_ordinary_frame_otherwise(session: xe.Session) -> None:
    profile = session.profile(repeats=1)
    assert list(profile[profile["opcode"] == "dot"].columns) == list(profile.columns)
    assert profile.copy().by_line().equals(profile.by_line())
    assert list(profile[profile["opcode"] == "dot"].by_line()["line"]) == ["model.py:3"]
    evaluated = xe.compile(TEXT, backend="interpreter", passes="none").profile(repeats=1)
    assert "model.py:3" in set(evaluated.by_line()["line"])


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy", "concat", "read_pickle"])
def test_a_profile_is_kept_and_still_tells_its_lines(
    session: xe.Session, way: str, tmp_path: object
) -> None:
    profile = session.profile(repeats=2)
    if way == "read_pickle":
        profile.to_pickle(f"{tmp_path}/p.pkl")
    kept = {
        "pickle": lambda: pickle.loads(pickle.dumps(profile)), "copy": lambda: copy.copy(profile), "deepcopy": lambda: copy.deepcopy(profile),
        "concat": lambda: pandas.concat([profile, profile]).iloc[: len(profile)],
        "read_pickle": lambda: pandas.read_pickle(f"{tmp_path}/p.pkl"),
    }[way]()  # fmt: skip
    assert (
        type(kept) is type(profile) and kept["median_us"].tolist() == profile["median_us"].tolist()
    )
    if way != "concat":  # of several profiles pandas keeps what they have in common only
        assert kept.by_line().equals(profile.by_line())


def test_sums_of_kernels_count_each_time_once(session: xe.Session) -> None:
    profile = session.profile(repeats=2)
    assert len(profile.kernels) == len(profile) - 1 and len(profile.whole) == 1
    assert profile.kernels["median_us"].sum() == pytest.approx(profile.by_line()["median_us"].sum())
    assert "(whole program)" not in set(profile.kernels.groupby("kernel")["median_us"].sum().index)


def test_groups_of_a_profile_count_each_time_once() -> None:
    session = xe.compile(xe.example("attention"))
    frame = session.profile(repeats=2)
    whole = frame.kernels["median_us"].sum()
    for column in ("line", "opcode"):
        groups = frame.groupby(column)["median_us"].sum()
        assert "" not in groups.index and groups.sum() == pytest.approx(whole)
    row = session._explorer_source_().timings()[0]
    assert (row.kernel, row.opcode, row.line) == ("(whole program)", "", "")
