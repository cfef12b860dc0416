"""Every public name in a script: exit code 0 and no output on standard error, also at exit.

The scripts run with Python's development mode and every warning an error, so an unclosed file or
process shows as well.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_explorer as xe

ROOT = Path(__file__).resolve().parents[2]
START = """
import numpy as np
import xla_explorer as xe
TEXT = '''HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] exponential(x)
  ROOT r = f32[8] add(y, x)
}
'''
X = np.ones(8, np.float32)
"""
SCRIPTS = {
    "language": {
        "HloBuilder": "b = xe.HloBuilder('b'); p = b.parameter(xe.f32[4]); m = b.build(p + p)",
        "HloModule": "assert isinstance(m, xe.HloModule)",
        "cond": "@xe.hlo\ndef pick(c: xe.pred[()], x: xe.f32[4]):\n    return xe.hlo.cond(c, lambda v: v + v, lambda v: v, x)\npick.module",
        "switch": "@xe.hlo\ndef pick3(i: xe.s32[()], x: xe.f32[4]):\n    return xe.hlo.switch(i, [lambda v: v + v, lambda v: v], x)\npick3.module",
        "while_loop": "@xe.hlo\ndef count(x: xe.s32[()]):\n    return xe.hlo.while_loop(lambda v: v < 9, lambda v: v + 1, x)\ncount.module",
        "fori_loop": "@xe.hlo\ndef five(x: xe.s32[()]):\n    return xe.hlo.fori_loop(0, 5, lambda k, v: v + k, x)\nfive.module",
        "where": "@xe.hlo\ndef least(x: xe.f32[4], y: xe.f32[4]):\n    return xe.hlo.where(x < y, x, y)\nleast.module",
        "hlo": "least(np.ones(4, 'f4'), np.ones(4, 'f4'))",
        "parse_hlo": "m = xe.parse_hlo(TEXT)",
        "PrintOptions": "m.to_text(xe.hlo.PrintOptions.elided)",
        "parse_stablehlo": "xe.parse_stablehlo('module @m { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }')",
        "load": "open('m.hlo', 'w').close(); f = open('m.hlo', 'w'); f.write(TEXT); f.close(); xe.load('m.hlo')",
        "verify": "xe.verify(TEXT)",
        "evaluate": "xe.evaluate(TEXT, X)",
        "evaluate_replicated": "xe.hlo.evaluate_replicated(m, [[X], [X]])",
        "Host": "xe.hlo.Host()",
        "example": "xe.example('attention')",
        "random_arguments": "xe.random_arguments(TEXT)",
        "errors": "try:\n    xe.parse_hlo('no')\nexcept xe.errors.HloParseError:\n    pass",
        "XlaExplorerError": "assert all(issubclass(getattr(xe.errors, name), xe.XlaExplorerError) for name in xe.errors.__all__)",
        "rule": "assert callable(xe.rule)",
        "minimize": "xe.minimize(TEXT, lambda m: True)",
        "course": "xe.course.exercises(); xe.course.check('nb01.quiz', {})",
        "Reason": "xe.Reason('code', 'a sentence', {})",
        "plugin": "from xla_explorer.plugin import Journal; Journal().save('j.jsonl'); Journal.load('j.jsonl')",
        "passes": "xe.passes()",
        "optimize": "xe.optimize(TEXT)",
        "PassPipeline": "assert isinstance(xe.compile(TEXT).passes.pipeline, xe.PassPipeline)",
        "register_pass": "assert callable(xe.register_pass)",
        "__version__": "xe.__version__",
        "backends": "xe.backends",
        "options": "xe.options",
        "xla": "assert callable(xe.xla.read_profile) and callable(xe.xla.compare) and callable(xe.xla.why_memory) and callable(xe.xla.why_recompiled)",
    },
    "compiles": {
        "compile": "s = xe.compile(TEXT); s(X)",
        "Session": "assert isinstance(s, xe.Session)",
        "backend_names": "xe.backend_names()",
        "compare": "xe.compare(TEXT, X, backends='cpu,interpreter', repeats=1); xe.compare(s, s.override(), X, repeats=1)",
        "compare.text": "xe.compare.text(TEXT, TEXT); xe.compare.structure(TEXT, TEXT); xe.compare.signatures((X,), (X[:4],))",
        "compare.fusions": "xe.compare.fusions(TEXT, policies=('time', 'xla'))",
        "compare.programs": "xe.compare.programs([TEXT], ('cpu', 'interpreter'), repeats=1, rounds=1)",
        "warm_up": "xe.warm_up()",
        "aot": "xe.aot(TEXT).save('aot')",
        "graph": "xe.graph(s).save('g.svg')",
        "explore": "xe.explore(s)",
        "timeline": "s.timeline('t.json')",
        "read_timeline": "xe.read_timeline('t.json')",
        "tune": "xe.tune(TEXT, budget=0.5, tried=1, cache=False)",
        "search_fusion": "xe.search_fusion(TEXT, X, trials=1)",
        "same": "assert xe.same(TEXT, TEXT)",
        "kernel_reproducer": "xe.kernel_reproducer(s, s.kernels()['kernel'][0])",
        "doctor": "xe.doctor()",
        "Isolation": "xe.compile(TEXT, isolate=xe.Isolation(timeout=60))(X)",
        "sweep": "if __name__ == '__main__':\n    assert list(xe.sweep([TEXT], repeats=0, executor=1)['status']) == ['ok']",
    },
    "jax": {
        "jit": "import jax.numpy as jnp\nxe.jit(lambda v: v + 1)(jnp.ones(3))",
        "from_jax": "xe.from_jax(lambda v: v + 1, X)",
        "backend xla": "xe.compile(TEXT, backend='xla')(X)",
    },
    "altair": {
        "xla": "try:\n    xe.xla.read_profile('none.xplane.pb')\nexcept xe.xla.ProfileError:\n    pass",
        "charts": "s = xe.compile(TEXT); xe.charts.roofline(s); xe.charts.predicted(s); xe.charts.memory(s)",
    },
}  # fmt: skip
NEEDS = {"jax": "jax", "altair": "altair"}
ELSEWHERE = {"load_ipython_extension", "prove", "sharding"}  # their own tests use them


def run_script(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, *options, "script.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("group", SCRIPTS)
def test_scripts_end_well(group: str, tmp_path: Path) -> None:
    if group in NEEDS and importlib.util.find_spec(NEEDS[group]) is None:
        pytest.skip(f"{NEEDS[group]} is not installed")
    # JAX and altair warn of themselves; our own warnings are errors everywhere.
    options = ["-W", "error"] if group not in NEEDS else []
    done = run_script(
        START + "\n".join(SCRIPTS[group].values()) + "\nprint('reached the end')\n",
        tmp_path,
        *options,
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith(
        "reached the end\n"
    ), done.stderr[-3000:]


def test_every_public_name_is_used() -> None:
    used = {name for snippets in SCRIPTS.values() for name in snippets} | ELSEWHERE
    assert set(xe.__all__) <= used, sorted(set(xe.__all__) - used)


@pytest.mark.long
def test_the_code_of_the_readme_in_development_mode(tmp_path: Path) -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    done = run_script(blocks[0], tmp_path, "-X", "dev", "-W", "error")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-3000:]
