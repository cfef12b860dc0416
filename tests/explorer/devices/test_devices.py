"""`session.devices`: tables, why, what-if, memory, other machines; and `xe.sharding`."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.explorer.asking import answer, questions
from xla_explorer.explorer.tables import NOUNS
from xla_explorer.foundation.diagnostic import XlaExplorerError

MLP = """HloModule mlp
ENTRY main {
  x = f32[64,128] parameter(0), metadata={op_name="x" source_file="train.py" source_line=3}
  w1 = f32[128,256] parameter(1), metadata={op_name="w1" source_file="train.py" source_line=4}
  w2 = f32[256,128] parameter(2)
  h = f32[64,256] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="layer/dot" source_file="train.py" source_line=41}
  t = f32[64,256] tanh(h)
  ROOT y = f32[64,128] dot(t, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="layer/dot" source_file="train.py" source_line=42}
}"""
MESH = {"data": 2, "model": 4}
FSDP = {"x": ("data", None), "w1": ("model", None)}


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(MLP, mesh=MESH, shardings=FSDP, backend="interpreter")


def test_collectives_are_a_table_of_the_vocabulary(session: xe.Session) -> None:
    frame = session.devices.collectives
    assert tuple(frame.columns) == NOUNS["collective"].columns
    (row,) = frame.to_dict("records")
    assert row["opcode"] == "all-reduce" and row["axes"] == "model" and row["devices"] == 4
    assert row["sent_bytes"] == 2 * 32 * 256 * 4 * 3 / 4
    assert row["annotation"] == "%w1" and row["line"] == "train.py:41"
    assert 0 < row["exposed_us"] <= row["predicted_us"]


def test_why_leads_to_the_users_line_and_to_a_change(session: xe.Session) -> None:
    why = session.devices.why("%all-reduce")
    assert "over model" in why.headline() and "exposed" in why.headline()
    text = str(why)
    assert "train.py:41" in text and "train.py:4)" in text and "%w1" in text
    assert {way.way for way in why.alternatives if not way.chosen}
    (change, *_) = why.changes
    assert change.startswith("annotate %w1 with P(None, None): a device sends 0 B instead of")
    assert why.formula.startswith("2 x 2 a + 2 x 32,768 B / 450 GB/s")
    assert any("needs the result" in line for line in why.hiding)


def test_an_unknown_collective_has_near_names(session: xe.Session) -> None:
    with pytest.raises(XlaExplorerError, match="no collective %all-reduc") as error:
        session.devices.why("%all-reduc")
    assert error.value.hint == "near: %all-reduce"


def test_what_if_compares_figures_and_collectives(session: xe.Session) -> None:
    changed = session.devices.what_if({"w1": (None, None)}).compare()
    assert changed.figure("sent_bytes").after == 0
    assert changed.figure("sent_bytes").before == 49152
    assert changed.went == ["all-reduce over model for %h, 48.0 KiB"] and not changed.came
    assert changed.figure("peak_bytes").change > 0
    with pytest.raises(XlaExplorerError, match="change no others"):
        session.devices.compare()


def test_a_what_if_of_300_instructions_takes_a_fraction_of_a_second() -> None:
    lines = ["x = f32[64,64] parameter(0)", "w = f32[64,64] parameter(1)"]
    last = "x"
    for k in range(100):
        lines += [
            f"d{k} = f32[64,64] dot({last}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"t{k} = f32[64,64] tanh(d{k})",
            f"a{k} = f32[64,64] add(t{k}, {last})",
        ]
        last = f"a{k}"
    lines.append(f"ROOT r = f32[64,64] negate({last})")
    module = xe.parse_hlo("ENTRY e {\n" + "\n".join(lines) + "\n}")
    devices = xe.sharding.Devices(
        xe.sharding.annotate(module, MESH, {"x": ("data", None), "w": (None, "model")})
    )
    before = devices.figures()
    start = process_time()
    after = devices.what_if({"w": (None, None)}).figures()
    seconds = process_time() - start
    assert after["sent_bytes"] < before["sent_bytes"]
    assert seconds < 1.5  # 0.3 s on an idle machine; the bound leaves room for a busy one


def test_links_and_timeline(session: xe.Session) -> None:
    links = session.devices.links.set_index("axes")
    assert links.loc["model", "sent_bytes"] == 49152 and links.loc["data", "sent_bytes"] == 0
    assert set(links["link"]) == {"NVLink"} and links.loc["model", "cited"].startswith("data sheet")
    frame = session.devices.timeline()
    assert set(frame["lane"]) == {"compute", "NVLink"}
    figures = session.devices.figures()
    assert figures["step_us"] == pytest.approx(figures["compute_us"] + frame["exposed_us"].sum())


def test_memory_names_copies_and_what_would_shard_them(session: xe.Session) -> None:
    memory = session.devices.memory_per_device()
    by_name = {row.value: row for row in memory.rows}
    assert by_name["%x"].size == 64 // 2 * 128 * 4 and by_name["%x"].replicas == 4
    assert by_name["%w2"].size == 256 * 128 * 4 and by_name["%w2"].replicas == 8
    assert memory.replicated_bytes >= by_name["%w2"].size * 7 // 8
    assert memory.peak_bytes >= memory.argument_bytes
    assert "%w2 (128 KiB) is equal on 8 devices" in str(memory)


def test_an_annotation_that_does_not_divide_is_named() -> None:
    text = "ENTRY e { x = f32[10,4] parameter(0)\n ROOT y = f32[10,4] negate(x) }"
    module = xe.sharding.annotate(xe.parse_hlo(text), "d=4", "x=d,-")
    (sentence,) = xe.sharding.Devices(module).dropped()
    assert "%x is annotated P('d', None), but dimension 0 has 10 elements for 4" in sentence
    assert "kept as P('d:(1)2', None), and every device holds 40 bytes more" in sentence


def test_other_machines_and_policies(session: xe.Session) -> None:
    slow = session.devices.on("a100").compare()
    assert slow.figure("step_us").change > 0 and slow.figure("sent_bytes").change == 0
    other = session.devices.on(policy="xla")
    assert other.policy == "xla" and len(other.collectives)
    assert set(session.devices.on("tpu-v5e").links["link"]) == {"ICI"}


def test_steps_and_choices(session: xe.Session) -> None:
    steps = session.devices.steps("t").to_dict("records")
    assert {row["source_value"] for row in steps} == {"%h"}
    choices = session.devices.choices("dot-strategy")
    assert set(choices["name"]) >= {"%h"} and choices["chosen"].any()


@pytest.mark.parametrize(
    "call",
    ["devices.collectives", "devices.links", "devices.timeline()", "devices.steps()",
     "devices.choices()", "devices.shardings", "devices.memory_per_device()",
     "devices.why('%all-reduce')", "devices.dropped()", "devices.what_if('w1=-,-')", "devices.why_sharded('h')"],
)  # fmt: skip
def test_each_is_a_question_of_the_registry(session: xe.Session, call: str) -> None:
    reply = answer(session, call)
    assert reply.total
    noun = questions()[call.partition("(")[0]].noun
    if noun:
        assert set(reply.columns or []) <= set(NOUNS[noun].columns)


def test_the_partitioned_program_verifies(session: xe.Session) -> None:
    xe.verify(session.devices.partitioned)


def test_a_reshard_without_a_program() -> None:
    plan = xe.sharding.reshard_plan((16, 16, 16), ("y", None, "x"), (None, ("x", "y")), "x=4,y=2")
    assert plan.sent() == 2560 and plan.sent(2) == 14336
    assert [step.axes for step in plan.steps if step.path == 1] == ["x", "y"]
    assert "all-to-all, all-to-all; a device sends 2.50 KiB" in plan.headline()
    assert not xe.sharding.reshard_plan((8,), ("x",), ("x",), "x=4").steps


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mlp.hlo"
    file.write_text(MLP)
    options = [str(file), "--mesh", "data=2,model=4", "--set", "x=data,-", "--set", "w1=model,-"]
    assert main(["shard", *options]) == 0
    text = capsys.readouterr().out
    assert "a device sends 48.0 KiB by 1 collective;" in text and "train.py:41" in text
    assert main(["shard", *options, "--why", "%all-reduce"]) == 0
    assert "what to change" in capsys.readouterr().out
    assert main(["shard", *options, "--json", "--topology", "v5p"]) == 0
    assert '"link": "ICI"' in capsys.readouterr().out
    assert main(["shard", str(file), "--mesh", "data=3", "--set", "x=model,-"]) != 0
    assert "axes: data" in capsys.readouterr().err


def test_a_what_if_runs_as_the_session_that_it_changes() -> None:
    session = xe.compile(MLP, mesh=MESH, shardings=FSDP)
    arrays = xe.random_arguments(xe.parse_hlo(MLP), seed=3)
    other = session.devices.what_if({"w1": (None, "model"), "w2": ("model", None)})
    wanted = xe.evaluate(xe.parse_hlo(MLP), *arrays)
    np.testing.assert_allclose(other(*arrays), wanted, rtol=1e-4, atol=1e-3)
    again = other.what_if({"x": (None, None)})
    np.testing.assert_allclose(again(*arrays), wanted, rtol=1e-4, atol=1e-3)
    assert set(other.timings(*arrays)["device"]) == set(range(8))
