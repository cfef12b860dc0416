"""Text with elided constants (`{...}`): refused for files, reported everywhere else."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.aot.errors import ElidedConstantsError
from xla_explorer.cli.main import main
from xla_explorer.hlo.analysis.elided_constants import ElidedConstantsWarning, elided_constants

ELIDED = """HloModule m
ENTRY e {
  x = f32[16] parameter(0)
  c = f32[16] constant({...})
  ROOT r = f32[16] add(x, c)
}
"""
IN_A_TUPLE = """HloModule m
ENTRY e {
  c = (f32[16], s32[2]) constant(({...}, {1, 2}))
  ROOT r = f32[16] get-tuple-element(c), index=0
}
"""
IN_A_BODY = """HloModule m
add { a = s32[4] parameter(0)
  c = s32[4] constant({...})
  ROOT s = s32[4] add(a, c) }
ENTRY e { x = s32[4] parameter(0)
  ROOT r = s32[4] call(x), to_apply=add }
"""


@pytest.mark.parametrize("text", [ELIDED, IN_A_TUPLE, IN_A_BODY])
def test_no_file_keeps_a_counter(text: str) -> None:
    with pytest.raises(ElidedConstantsError, match=r"%c .*\{\.\.\.\}") as caught:
        xe.aot(text)
    assert [reason.code for reason in caught.value.reasons] == ["elided-constant"]
    assert (
        'stage="stablehlo"' in caught.value.hint
        and "print_large_constants" in caught.value.hint
        and "proto" in caught.value.hint
    )


def test_the_command_line_refuses_and_writes_nothing(tmp_path, capsys) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(ELIDED)
    assert main(["aot", str(path), "-o", str(tmp_path / "out")]) == 2
    assert "%c" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_that_values_are_unknown_is_not_forgotten() -> None:
    module = xe.parse_hlo(ELIDED)
    constant = elided_constants(module)[0]
    assert constant.payload.text.startswith("{0, ")  # once in digits ...
    assert elided_constants(module) == [constant]  # ... is no knowledge
    for again in (module.clone(), xe.parse_hlo(module.to_text())):
        with pytest.raises(ElidedConstantsError):
            xe.aot(again)


@pytest.mark.parametrize(
    "use",
    [
        lambda m: xe.compile(m),
        lambda m: xe.compile(m, backend="interpreter"),
        lambda m: xe.evaluate(m, np.zeros(16, np.float32)),
        lambda m: xe.optimize(m),
        lambda m: xe.hlo.evaluate_replicated(xe.parse_hlo(m), [[np.zeros(16, np.float32)]]),
    ],
    ids=["compile", "interpreter", "evaluate", "optimize", "replicated"],
)
def test_every_user_of_the_values_warns(use) -> None:
    with pytest.warns(ElidedConstantsWarning, match="first %c") as caught:
        use(ELIDED)
    assert len(caught) == 1 and caught[0].filename == __file__


def test_the_session_tells_it_too() -> None:
    with pytest.warns(ElidedConstantsWarning):
        session = xe.compile(ELIDED)
    rows = session.decisions("constant-values").to_dict("records")
    assert [(row["verdict"], row["code"], row["subjects"]) for row in rows] == [
        ("refused", "elided-constant", ("%c",))
    ]
    assert "elided-constant" in str(session.explain("%c"))
    assert any(sentence.startswith("as written: ") for sentence in session.passes.history("%c"))
    assert [row.code for row in session._explorer_source_().decisions(0)] == ["elided-constant"]


def test_known_values_warn_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = xe.compile(ELIDED.replace("{...}", "{" + ",".join("1" * 16) + "}"))
    assert not len(session.decisions("constant-values"))
