"""An error of ours in a cell: the message, then the user's own lines, and no internal ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell

CELLS = {
    "function": ("@xe.hlo\ndef f(x: xe.f32[4,8], w: xe.f32[9,2]):\n    y = x.exp()\n    return y @ w\nxe.compile(f)", ["line 4, in f: return y @ w", "line 5: xe.compile(f)"]),
    "top level": ('b = xe.HloBuilder("m")\nx = b.parameter(xe.f32[4])\nx + b.parameter(xe.f32[5])', ["line 3: x + b.parameter(xe.f32[5])"]),
    "loop body": (
        'def body(i, x):\n    return i, x.reshape(7)\nb = xe.HloBuilder("m")\nx = b.parameter(xe.f32[4])\nb.while_loop(lambda i, x: i < 3, body, (0, x))',
        ["line 2, in body: return i, x.reshape(7)", "line 5: b.while_loop(lambda i, x: i < 3, body, (0, x))"],
    ),
    "lambda": ('b = xe.HloBuilder("m")\nx = b.parameter(xe.f32[4])\nx.reduce(\n    lambda p, q: p.reshape(3), 0)', ["line 4: lambda p, q: p.reshape(3), 0)", "line 3: x.reduce("]),
    "one line": ('xe.example("resnet")', []),
}  # fmt: skip


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(colors="nocolor")
    made.run_line_magic("load_ext", "xla_explorer")
    made.run_cell("import xla_explorer as xe")
    yield made
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", CELLS)
def test_the_lines_of_the_cell_follow_the_message(
    name: str, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell, lines = CELLS[name]
    shell.run_cell(cell, store_history=True)
    said = "".join(capsys.readouterr()).splitlines()
    places = [line for line in said if line.startswith("  Cell In[")]
    assert [line.partition("], ")[2] for line in places] == lines
    assert any("hint: " in line for line in said) and not any(
        "xla_explorer/" in line for line in said
    )


def test_a_long_way_is_cut(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell(
        'def down(x, n):\n    return down(x, n - 1) if n else x.reshape(7)\ndown(xe.HloBuilder("m").parameter(xe.f32[4]), 50)'
    )
    assert (
        len(
            [
                line
                for line in "".join(capsys.readouterr()).splitlines()
                if line.startswith("  Cell In[")
            ]
        )
        == 6
    )
