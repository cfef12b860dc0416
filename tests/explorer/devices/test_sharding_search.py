"""`xe.sharding.search_shardings`: what it finds, its limits, its annotations, its refusals."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.cli.main import main
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import recorded_partitioning
from xla_explorer.explorer.devices.found_shardings import ShardingSearch
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import OutOfTimeError, limited_run

PROGRAMS = SHARED / "spmd" / "programs"


def mlp(batch: int, features: int, hidden: int) -> str:
    return f"""HloModule mlp
ENTRY main {{
  x = f32[{batch},{features}] parameter(0)
  w1 = f32[{features},{hidden}] parameter(1)
  w2 = f32[{hidden},{features}] parameter(2)
  h = f32[{batch},{hidden}] dot(x, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  t = f32[{batch},{hidden}] tanh(h)
  ROOT y = f32[{batch},{features}] dot(t, w2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""


@cache
def search(sizes: tuple[int, int, int], memory: str | None = None) -> ShardingSearch:
    return xe.sharding.search_shardings(
        mlp(*sizes), "data=2,model=4", memory=memory, seconds=600, most=45
    )


def test_wide_weights_are_split_as_in_megatron() -> None:
    found = search((4096, 8192, 32768), "1.2GB")
    assert found.specs() == {"x": ("data", None), "w1": (None, "model"), "w2": ("model", None)}
    assert found.rows[0].fits and found.rows[0].collectives == 1


def test_small_weights_are_copied_and_the_batch_is_split() -> None:
    found = search((65536, 512, 2048))
    assert found.specs() == {
        "x": (("data", "model"), None), "w1": (None, None), "w2": (None, None),
    }  # fmt: skip
    assert found.rows[0].name == "data parallel" and found.rows[0].sent_bytes == 0


def test_a_memory_limit_stores_weights_split_over_the_data_axis() -> None:
    free, tight = search((65536, 2048, 2048)), search((65536, 2048, 2048), "225MB")
    assert free.rows[0].peak_bytes > tight.memory_bytes == 225_000_000
    best = tight.rows[0]
    assert best.fits and best.step_us >= free.rows[0].step_us and best.sent_bytes > 0
    assert any(axes for name in ("w1", "w2") for axes in tight.specs()[name])


def test_no_baseline_is_better_than_the_winner() -> None:
    found = search((64, 1024, 4096))
    names = [row.name for row in found.rows]
    assert {"replicated", "data parallel", "FSDP"} <= set(names)
    fitting = [row.step_us for row in found.rows if row.fits]
    assert found.rows[0].step_us == pytest.approx(min(fitting), abs=1e-3)
    assert [row.rank for row in found.rows] == list(range(len(names)))


def test_the_annotations_of_a_candidate_are_applied_and_pasted() -> None:
    found = search((4096, 8192, 32768), "1.2GB")
    assert found.apply().figures()["sent_bytes"] == found.rows[0].sent_bytes
    assert found.apply().compare().figure("sent_bytes").before == 0
    assert "'w1': P(None, 'model')," in found.paste()
    with pytest.raises(XlaExplorerError, match="no candidate has rank 99"):
        found.apply(99)


def test_kept_shardings_stay_and_other_arguments_are_searched() -> None:
    found = xe.sharding.search_shardings(
        mlp(4096, 1024, 4096), {"d": 4}, keep="w1=-,d", seconds=600, most=40
    )
    assert set(found.specs()) == {"x", "w2"}
    with pytest.raises(XlaExplorerError, match="no argument %w3") as error:
        xe.sharding.search_shardings(mlp(8, 8, 8), {"d": 4}, over=["w3"])
    assert error.value.hint == "arguments: x, w1, w2"
    with pytest.raises(XlaExplorerError, match="must be a size"):
        xe.sharding.search_shardings(mlp(8, 8, 8), {"d": 4}, memory="much")


def test_a_question_of_the_devices_and_a_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    session = xe.compile(
        mlp(64, 128, 256), mesh={"d": 4}, shardings={"x": ("d", None)}, backend="interpreter"
    )
    found = session.devices.search(most=12)
    assert "as given" in [row.name for row in found.rows] and found.tried <= 12
    path = tmp_path / "mlp.hlo"
    path.write_text(mlp(64, 128, 256))
    assert main(["shard", str(path), "--mesh", "d=2", "--search", "--memory", "1GB"]) == 0
    assert "in_shardings = {" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.skipif(not PROGRAMS.exists(), reason=f"{PROGRAMS} is absent")
@pytest.mark.parametrize("name", ["fsdp_mlp_train", "dp_mlp_train", "grouped_query_attention"])
def test_the_annotations_of_users_are_never_better(name: str) -> None:
    record = json.loads(gzip.decompress((PROGRAMS / f"{name}.shardy.json.gz").read_bytes()))
    found = xe.sharding.search_shardings(xe.parse_hlo(record["hlo_before"]), seconds=600, most=80)
    given = next(row for row in found.rows if row.name == "as given")
    assert given.rank > 0 or found.rows[0] is given
    assert found.rows[0].step_us <= given.step_us


def test_a_search_without_time_costs_one_annotation_and_says_so() -> None:
    found = xe.sharding.search_shardings(mlp(64, 32, 128), "data=2,model=4", seconds=0)
    assert found.tried == 1 and found.stopped == "the limit is reached"
    assert [row.name for row in found.rows] == ["replicated"]


def test_the_deadline_of_a_call_stops_the_partitioner() -> None:
    module = xe.sharding.annotate(xe.parse_hlo(mlp(64, 32, 128)), "data=2", {"x": ("data",)})
    with limited_run(0), pytest.raises(OutOfTimeError, match="propagation of shardings"):
        recorded_partitioning(module)
