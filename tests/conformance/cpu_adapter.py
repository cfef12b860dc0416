"""An adapter of the conformance runner: HLO text through the CPU compiler, flat results.

`python conformance.py dev --adapter tests/conformance/cpu_adapter.py:run`
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.registry import platform
from xla_explorer.hlo.text.parser import parse_hlo


def run(text: str, inputs: list[Any]) -> list[Any]:
    """Compile without the object cache, execute once."""
    compiler = platform("cpu").compiler()
    options = CompileOptions(cache=False)
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    assert result.executable is not None
    return list(result.executable.execute(inputs))
