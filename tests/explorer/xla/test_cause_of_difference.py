"""`cause_of_difference`: the operation, the pass and a minimal program of two ways to compute."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.differences import search
from xla_explorer.explorer.xla.differences.excerpt import all_values, alone, with_results
from xla_explorer.explorer.xla.differences.ways import Stage, Way, in_width, way_of

TEXT = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  c = f32[] constant(7)
  b = f32[4] broadcast(c), dimensions={}
  d = f32[4] divide(x, b)
  s = f32[4] sine(d)
  ROOT r = f32[4] add(s, y)
}"""
X, Y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("other", "way"),
    [
        ({"xla_cpu_enable_fast_math": True}, ("--xla_cpu_enable_fast_math=true", "")),
        ("--a=b --c=d", ("--a=b --c=d", "")),
        ("float64", ("", "f64")),
    ],
)
def test_other_is_flags_or_a_type(other, way):
    assert (way_of(other).flags, way_of(other).width) == way


def test_another_word_is_refused_with_a_near_one():
    with pytest.raises(xe.XlaExplorerError, match="folder of an environment") as found:
        way_of("flaot64")
    assert "float64" in str(found.value)
    assert way_of("/").python == "/"


def test_one_operation_is_a_program_with_known_arguments():
    module = xe.parse_hlo(TEXT)
    known = all_values(module, [X, Y])
    part = alone(module, "s", known)
    assert [i.opcode.name for i in part.module.entry.post_order()] == ["parameter", "sine"]
    np.testing.assert_array_equal(xe.evaluate(part.module, *part.arrays), np.sin(X / np.float32(7)))
    part = alone(module, "r", known)
    np.testing.assert_array_equal(xe.evaluate(part.module, *part.arrays), known["r"])
    assert alone(module, "x", known) is None


def test_all_floats_can_be_results():
    made, names = with_results(xe.parse_hlo(TEXT))
    assert names == ["d", "s", "r"]
    assert len(xe.evaluate(made, X, Y)) == 3


def test_another_width():
    assert "f64[4]{0} sine" in in_width(xe.parse_hlo(TEXT), "f64").to_text()


class Fake:
    """A way to compute that rounds the results of one opcode down."""

    def __init__(self, label, wrong=""):
        self.way, self.wrong = Way(label), wrong

    def results(self, module, arrays):
        results = xe.evaluate(module, *arrays)
        leaves = list(results) if isinstance(results, tuple) else [results]
        values = all_values(module, arrays)
        names = {i.name: i.opcode.name for i in module.entry.instructions.values()}
        if not any(names[name] == self.wrong for name in values):
            return leaves
        roots = module.entry.root.operands if isinstance(results, tuple) else [module.entry.root]
        return [
            leaf - np.float32(0.01) if self._reads(root) else leaf
            for root, leaf in zip(roots, leaves, strict=True)
        ]

    def _reads(self, i):
        return i.opcode.name == self.wrong or any(map(self._reads, i.operands))


@pytest.mark.parametrize(("wrong", "name"), [("sine", "s"), ("divide", "d"), ("add", "r")])
def test_the_first_operation_that_differs_is_the_origin(wrong, name):
    module = xe.parse_hlo(TEXT)
    part, found = search._origin(Fake("a"), Fake("b", wrong), module, [X, Y], 0.01, 5.0)
    assert found == name and part.module.entry.root.opcode.name == wrong
    assert search._nearer(Fake("a"), Fake("b", wrong), part) == "a"


def test_the_pass_after_which_the_value_differs_is_found():
    def stage(name, text):
        return Stage(name, xe.parse_hlo(text))

    head = (
        "ENTRY e {{ x = f32[4] parameter(0) c = f32[] constant({}) "
        "b = f32[4] broadcast(c), dimensions={{}} ROOT r = f32[4] {}(x, b) }}"
    )
    stages = [
        stage("the program", head.format(7, "divide")),
        stage("layout", head.format(7, "divide")),
        stage("algsimp", head.format(0.142857149, "multiply")),
    ]
    before, after = search._changing(stages, [np.arange(4, 8).astype(np.float32)])
    assert (before.pass_name, after.pass_name) == ("layout", "algsimp")
    texts = search._rewrite(before.module, after.module)
    assert "divide" in texts[0] and "multiply" in texts[1] and "parameter" not in texts[0]
    assert search._changing(stages[:2], [X]) is None
    assert search._are_alike([(before, after), (before, after)])
    assert not search._are_alike([(before, after), None])
    assert not search._are_alike([(before, after), (after, before)])
    assert search._first_apart(stages, stages[:2]) == "algsimp"


@pytest.mark.jax
@pytest.mark.long
def test_a_pass_of_real_xla_is_named_with_line_and_rewrite():
    def scaled(x):
        return (x @ x.T + 1) / 7

    x = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    found = xe.xla.cause_of_difference(scaled, x, other={"xla_disable_hlo_passes": "algsimp"})
    if not found.error:
        pytest.skip("this XLA divides by multiplication in another pass")
    assert (found.pass_name, found.in_way, found.opcode) == ("algsimp", "as it is", "divide")
    assert "test_cause_of_difference" in found.line
    assert found.program.instruction_count() < 10
    assert "multiply" in found.after and found.nearer
    same = xe.xla.cause_of_difference(lambda x: x + 1, x, other={"xla_disable_hlo_passes": "dce"})
    assert same.error == 0 and "equal, bit for bit" in str(same)
