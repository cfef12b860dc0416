"""`xe.xla.overrides` inside real XLA's compile: the program changes as stated, the values stay."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.overrides import hook

pytest.importorskip("jax.extend.xla", reason="jax has the hook since 0.10.2 (extra `jax`)")
import jax
import jax.numpy as jnp

pytestmark = pytest.mark.jax

X = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(32, 16)).astype(np.float32)


def attention_row(x, w):
    """Return a chain that XLA:CPU fuses: softmax of tanh of a product."""
    h = jnp.tanh(x @ w)
    return jnp.sum(jax.nn.softmax(h * 2 + 1), axis=0)


def compiled(function=attention_row, **requests):
    """Return (text of XLA's program, values, report)."""
    with xe.xla.overrides(**requests) as report:
        made = jax.jit(lambda x, w: function(x, w)).lower(X, W).compile()
    return made.as_text(), np.asarray(made(X, W)), report


def computation_of(text, name):
    """Return the name of the computation that defines an instruction."""
    before = text[: re.search(rf"%{re.escape(name)} = ", text).start()]
    return re.findall(r"^(?:ENTRY )?%([\w.\-]+) \(", before, re.MULTILINE)[-1]


def fused_pair():
    """Return a producer and its consumer that XLA computes by one kernel, and XLA's values."""
    text, values, _ = compiled()
    for name in re.findall(r"%(\w+\.\d+) = \S+ exponential\(", text):
        producer = re.search(rf"%{re.escape(name)} = \S+ exponential\(%([\w.\-]+)\)", text)[1]
        if computation_of(text, producer) == computation_of(text, name) and "param" not in producer:
            return (producer, name), values
    raise AssertionError(text)


def test_a_fusion_of_xla_is_split():
    pair, values = fused_pair()
    text, found, report = compiled(forbid=[pair])
    assert [one.result for one in report.outcomes] == ["granted"], report
    assert computation_of(text, pair[0]) != computation_of(text, pair[1])
    np.testing.assert_array_equal(found, values)


def test_kernels_of_xla_are_joined():
    text, values, _ = compiled()
    tanh = re.search(r"%(tanh[\w.]*) = ", text)[1]
    exponential = re.search(r"%(exp\.\d+) = ", text)[1]
    assert computation_of(text, tanh) != computation_of(text, exponential)
    text, found, report = compiled(fuse=[(tanh, exponential)])
    assert [one.result for one in report.outcomes] == ["granted"], report
    joined = computation_of(text, exponential)
    body = text[text.index(f"%{joined} (") :]
    assert " tanh(" in body[: body.index("\n}")]
    np.testing.assert_allclose(found, values, rtol=1e-6)


def test_refusals_are_listed_by_program():
    _, _, report = compiled(forbid=[("nowhere", "exp.0")], fuse=[("dot_general.0", "nowhere")])
    assert [one.reason.code for one in report.refused] == ["not-in-the-module"] * 2
    frame = report.to_frame()
    assert list(frame["result"]) == ["refused", "refused"] and len(set(frame["fingerprint"])) == 1
    assert "0 of 2 requests granted" in report.headline()


def test_a_rule_of_the_user_acts_in_xla():
    from xla_explorer.plugin import Exactness, any_, operator

    absolute, negative = operator("abs"), operator("negate")

    @xe.rule(
        absolute(negative(any_("x"))),
        exactness=Exactness.BITWISE,
        before="x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] abs(n)",
        after="x = f32[4] parameter(0)\n ROOT r = f32[4] abs(x)",
    )
    def absolute_of_negated(instruction):
        """|-x| is |x|."""
        x = instruction.operands[0].operands[0]
        return instruction.parent.add("abs", instruction.shape, [x])

    def program(x, w):
        return jnp.abs(-(x @ w)) + 1

    text, values, _ = compiled(program)
    if " negate(" not in text:
        pytest.skip("this XLA rewrites |-x| itself")
    text, found, report = compiled(program, rules=[absolute_of_negated])
    assert [one.result for one in report.outcomes] == ["granted"], report
    assert " negate(" not in text
    np.testing.assert_array_equal(found, values)


def test_an_error_of_ours_leaves_xlas_module_as_it_is(monkeypatch):
    pair, values = fused_pair()

    def broken(data, requests):
        raise RuntimeError("planted")

    monkeypatch.setattr(hook, "before_scheduling", broken)
    with pytest.warns(hook.OverrideFailedWarning, match="planted"):
        _, found, report = compiled(forbid=[pair])
    assert [one.result for one in report.outcomes] == ["failed"]
    np.testing.assert_array_equal(found, values)


def test_bytes_that_xla_would_refuse_never_reach_it(monkeypatch):
    pair, values = fused_pair()
    broken = b"\n\x01x", [("forbid", pair, None)]
    monkeypatch.setattr(hook, "before_scheduling", lambda data, requests: broken)
    with pytest.warns(hook.OverrideFailedWarning):
        _, found, report = compiled(forbid=[pair])
    assert [one.result for one in report.outcomes] == ["failed"]
    np.testing.assert_array_equal(found, values)


def test_after_the_context_xla_compiles_as_before():
    pair, values = fused_pair()
    compiled(forbid=[pair])
    text, found, report = compiled(when="jit_another_name", forbid=[pair])
    assert report.granted == [] and computation_of(text, pair[0]) == computation_of(text, pair[1])
    np.testing.assert_array_equal(found, values)


SCRIPT = """
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(x):
    return jnp.exp(jnp.sin(x) * 2).sum()
print("value", float(step(np.ones((64, 32), np.float32))))
"""


@pytest.mark.parametrize("content", [None, '{"version": 1, "forbid": [["nowhere", "exp.1"]]}', "{"])
def test_a_file_acts_on_an_unmodified_script(tmp_path, content):
    path = tmp_path / "overrides.json"
    environment = os.environ | {"XLA_EXPLORER_XLA_OVERRIDES": str(path), "JAX_PLATFORMS": "cpu"}
    if content is None:
        del environment["XLA_EXPLORER_XLA_OVERRIDES"]
    else:
        path.write_text(content)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("value ")
    if content is None:
        assert "xla_explorer" not in done.stderr
    elif content == "{":
        assert "has no effect" in done.stderr
    else:
        assert "0 of" in done.stderr and "not-in-the-module" in done.stderr


def test_programs_of_one_name_have_their_own_fingerprints():
    def both(x):
        return jnp.sin(x), jnp.cos(x)

    text = jax.jit(both).lower(X).compile().as_text()
    order = [re.search(rf"%([\w.\-]+) = \S+ {word}\(", text)[1] for word in ("cosine", "sine")]
    with xe.xla.overrides(schedule_order=order) as report:
        for x in (X, W):
            jax.jit(both).lower(x).compile()
    assert len(report.outcomes) == 2 and len({one.program for one in report.outcomes}) == 1
    assert len({one.fingerprint for one in report.outcomes}) == 2
