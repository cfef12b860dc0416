"""XLA_EXPLORER_TARGET: another CPU, vector width and core count; foreign code is not run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu import machine_limits as machine_limits_module
from xla_explorer.backends.llvm import target_machine
from xla_explorer.backends.llvm.target_machine import (
    TargetAboveMachineError,
    describe_target,
    detected_target,
    host_target,
    usable_cores,
    why_not_here,
)
from xla_explorer.backends.llvm.target_request import (
    TARGET_VARIABLE,
    TargetRequest,
    TargetRequestError,
    parse_target_request,
)

AXPY = "HloModule m\nENTRY e {\n  x = f32[700,300] parameter(0)\n  y = f32[700,300] parameter(1)\n  t = f32[700,300] tanh(x)\n  ROOT r = f32[700,300] add(t, y)\n}"
ON_X86 = pytest.mark.skipif(
    detected_target().architecture != "x86_64", reason="levels of x86-64 on another architecture"
)
BASELINE = {"x86_64": "x86-64", "aarch64": "generic"}


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch):
    """Set the target that the environment requests."""
    return lambda text: monkeypatch.setenv(TARGET_VARIABLE, text)


def test_parts_are_read() -> None:
    assert parse_target_request("") == parse_target_request("native") == TargetRequest()
    assert parse_target_request(" x86-64-v4, prefer-256 ,cores=3") == TargetRequest(
        "x86-64-v4", 256, 3
    )


@pytest.mark.parametrize(
    "text",
    [
        "prefer-200",
        "prefer-",
        "cores=0",
        "cores=x",
        "cores=-1",
        "cores=9999999",
        "cache=3",
        "x86-64-v3,x86-64-v4",
        "cores=1,cores=1",
        "a b",
        "é",
    ],
)
def test_what_it_cannot_say_is_an_error_with_an_example(text: str) -> None:
    with pytest.raises(TargetRequestError, match=TARGET_VARIABLE) as caught:
        parse_target_request(text)
    assert "for example" in str(caught.value)


def test_a_cpu_that_llvm_does_not_know(target) -> None:
    target("no-such-cpu")
    with pytest.raises(xe.XlaExplorerError, match="no-such-cpu"):
        host_target()
    row = next(row for row in xe.doctor() if row.name == "target of programs")
    assert row.state == "missing" and "no-such-cpu" in row.detail


@ON_X86
@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("x86-64", 128),
        ("x86-64-v2", 128),
        ("x86-64-v3", 256),
        ("x86-64-v3,prefer-128", 128),
        ("x86-64-v3,prefer-512", 256),
        ("x86-64-v4", 512),
        ("x86-64-v4,prefer-256", 256),
        ("icelake-server", 512),
    ],
)
def test_the_description_has_the_cpu_and_the_width(target, text: str, bits: int) -> None:
    target(text)
    made = host_target()
    assert (
        made.cpu == text.split(",")[0]
        and made.vector_register_bits == bits
        and made.is_host
        and made.code_model == "jitdefault"
    )
    assert made.vector_width_fact().code == (
        "narrower-vectors-requested" if bits < made.widest_register_bits else "widest-registers"
    )


def test_cores_are_those_that_are_asked_for(target, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = machine_limits_module.machine_limits()  # those of seven cores would be measured
    monkeypatch.setattr(machine_limits_module, "machine_limits", lambda: limits)
    target("native,cores=7")
    assert usable_cores() == 7 and host_target() is detected_target()
    assert any("7 cores" in row.detail for row in xe.doctor())


@pytest.mark.skipif(
    detected_target().architecture not in BASELINE,
    reason="the name of its baseline is not known here",
)
def test_the_baseline_runs_everywhere(target) -> None:
    target(BASELINE[detected_target().architecture] + ",cores=1")
    assert why_not_here(host_target()) is None
    x, y = np.random.default_rng(0).standard_normal((2, 700, 300)).astype(np.float32)
    session = xe.compile(AXPY, cache=False)
    np.testing.assert_allclose(session(x, y), np.tanh(x) + y, rtol=1e-5, atol=1e-6)
    assert not any(row.verdict == "accepted" for row in session.decisions("parallel").itertuples())


@ON_X86
def test_above_the_machine_is_compiled_verified_and_not_run(
    target, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(
        describe_target(detected_target().triple, "x86-64-v2", "+sse4.2"),
        code_model="jitdefault",
        is_host=True,
    )
    monkeypatch.setattr(target_machine, "detected_target", lambda: small)
    target("x86-64-v4")
    session = xe.compile(AXPY, cache=False)
    assert "%zmm" in str(session.assembly()) and session.stages()["object"].data
    x = np.ones((700, 300), np.float32)
    for run in (lambda: session(x, x), lambda: session.profile(x, x)):
        with pytest.raises(TargetAboveMachineError, match=r"avx512f.*not executed"):
            run()
    row = next(row for row in xe.doctor() if row.name == "target of programs")
    assert row.state == "limited" and "verified only" in row.detail


@pytest.mark.parametrize(
    ("cpu", "features", "code"),
    [
        ("x86-64-v4", "", "cpu-feature-missing"),
        ("x86-64-v2", "+avx512f", "cpu-feature-missing"),
        ("icelake-server", "", "registers-too-narrow"),
        ("haswell", "", None),
        ("x86-64-v3", "", None),
        ("", "", None),
    ],
)
def test_what_a_machine_executes(
    cpu: str, features: str, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    abilities = "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
    monkeypatch.setattr(
        target_machine,
        "detected_target",
        lambda: describe_target("x86_64-linux-gnu", "znver3", abilities),
    )
    why = why_not_here(describe_target("x86_64-linux-gnu", cpu, features))
    assert (why.code if why else None) == code


def test_another_architecture_does_not_run_here() -> None:
    triple = (
        "aarch64-linux-gnu" if detected_target().architecture == "x86_64" else "x86_64-linux-gnu"
    )
    why = why_not_here(describe_target(triple))
    assert why is not None and why.code == "other-machine"


@ON_X86
@pytest.mark.slow
def test_a_process_of_its_own_obeys_and_finds_no_object_of_another_target_in_the_cache(
    tmp_path,
) -> None:
    code = (
        "import xla_explorer as xe, numpy as np\n"
        f"s = xe.compile({AXPY!r})\nprint(s.decisions('vector-width').facts[0]['bits'], 'zmm' in str(s.assembly()), s.executable.compiled.from_cache)"
    )
    seen = []
    for text in ("x86-64-v2", "x86-64-v2,prefer-128", "x86-64-v4", "x86-64-v4,prefer-256"):
        environment = {
            **os.environ,
            TARGET_VARIABLE: text,
            "XDG_CACHE_HOME": str(tmp_path),
            "XLA_EXPLORER_CACHE": "",
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.append(done.stdout.split())
    assert seen == [
        ["128", "False", "False"],
        ["128", "False", "True"],
        ["512", "True", "False"],
        ["256", "False", "False"],
    ]


@pytest.mark.long
@ON_X86
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v2"])
@pytest.mark.sampled(1)
def test_half_precision_runs_on_a_cpu_without_conversions(cpu: str) -> None:
    """Their code calls functions, which the runtime of the process need not have."""
    code = (
        "import numpy as np, xla_explorer as xe\n"
        "text = 'HloModule m\\nENTRY e {\\n  x = f16[5] parameter(0)\\n  y = f64[5] convert(x)\\n  z = f64[5] multiply(y, y)\\n"
        "  w = f16[5] convert(z)\\n  ROOT r = f16[5] add(w, x)\\n}'\n"
        "x = np.array([1.5, -2, 6e-8, 300, np.nan], np.float16)\n"
        "got, want = xe.compile(text, cache=False)(x), xe.evaluate(text, x)\n"
        "np.testing.assert_array_equal(got, want)\nprint(xe.compile(text).kernels().shape[0] > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, TARGET_VARIABLE: cpu},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.split() == ["True"], done.stderr[-2000:]
