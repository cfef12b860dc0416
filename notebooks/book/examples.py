"""Run the examples that the reference shows."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import io
import os
import tempfile
from contextlib import chdir, redirect_stdout
from typing import Any

from notebooks.book.member_examples import EXAMPLES, FIRST
from notebooks.book.names import documentation_of
from tests.api.public_api import names

# Packages beyond the base installation that an example needs, by the prefix of its name.
NEEDS = {
    "xe.from_jax": "jax",
    "xe.jit": "jax",
    "xe.xla.": "jax",
    "xe.compare.fusions": "jax",
    "xe.compare.programs": "jax",
    "xe.charts.": "altair",
}


def run_examples() -> tuple[int, list[str]]:
    """Return the number of statements that ran, and the failures."""
    ran, failures, seen = 0, list[str](), set[str]()
    parser, flags = doctest.DocTestParser(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ.setdefault("XLA_EXPLORER_CACHE", "off")
        for name, thing in names():
            text = documentation_of(thing)
            missing = next(
                (package for prefix, package in NEEDS.items() if name.startswith(prefix)), None
            )
            if (
                ">>> " not in text
                or text in seen
                or (missing and importlib.util.find_spec(missing) is None)
            ):
                continue
            seen.add(text)
            output: list[str] = []
            example = parser.get_doctest(text, {}, name, None, None)
            ran += (
                doctest.DocTestRunner(optionflags=flags).run(example, out=output.append).attempted
            )
            failures += [f"the example of {name}: {''.join(output)}"] * bool(output)
        more, wrong = _run_members()
    return ran + more, failures + wrong


def _run_members() -> tuple[int, list[str]]:
    """Run the examples outside of docstrings; the example of an error must raise it."""
    known, failures, ran = dict(names()), list[str](), 0
    start: dict[str, Any] = {}
    exec(FIRST, start)
    for name, code in EXAMPLES.items():
        missing = next(
            (package for prefix, package in NEEDS.items() if name.startswith(prefix)), None
        )
        if code.startswith("%") or (missing and importlib.util.find_spec(missing) is None):
            continue
        ran += 1
        thing = known[name]
        wanted = thing if inspect.isclass(thing) and issubclass(thing, Exception) else None
        try:
            with redirect_stdout(io.StringIO()):
                exec(code, dict(start))
        except Exception as problem:
            if wanted is None or not isinstance(problem, wanted):
                failures.append(f"the example of {name}: {type(problem).__name__}: {problem}")
        else:
            failures += [f"the example of {name} does not raise it"] * (wanted is not None)
    return ran, failures
