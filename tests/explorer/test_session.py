"""The session: callable, its artifacts, its questions."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.arguments import ArgumentError
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.explorer.tables import Kernel


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


X = np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)


def test_a_session_is_a_function(softmax: Session) -> None:
    np.testing.assert_allclose(softmax(X), _softmax(X), rtol=1e-5)
    found = softmax.run_flat([X])
    assert isinstance(found, list) and len(found) == 1


def test_results_have_the_structure_of_the_module() -> None:
    session = xe.compile(
        """HloModule t
ENTRY e {
  p = (f32[3], (s32[2])) parameter(0)
  a = f32[3] get-tuple-element(p), index=0
  n = (s32[2]) get-tuple-element(p), index=1
  b = s32[2] get-tuple-element(n), index=0
  t = (s32[2], f32[3]) tuple(b, a)
  ROOT r = (f32[3], (s32[2], f32[3])) tuple(a, t)
}""",
        backend="interpreter",
    )
    a, b = np.arange(3, dtype=np.float32), np.arange(2, dtype=np.int32)
    for result in (session((a, (b,))), session(a, b)):
        assert isinstance(result, tuple) and isinstance(result[1], tuple)
        np.testing.assert_array_equal(result[1][0], b)
    assert len(session.run_flat([a, b])) == 3


class _OnlyDlpack:
    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def test_dlpack_goes_in(softmax: Session) -> None:
    np.testing.assert_allclose(softmax(_OnlyDlpack(X)), _softmax(X), rtol=1e-5)


PLACED = """HloModule m, entry_computation_layout={(f32[3,5]{0,1}, (s32[7], f32[]))->f32[3,5]{0,1}}
ENTRY e {
  x = f32[3,5]{0,1} parameter(0)
  p = (s32[7], f32[]) parameter(1)
  s = f32[] get-tuple-element(p), index=1
  b = f32[3,5]{0,1} broadcast(s), dimensions={}
  ROOT y = f32[3,5]{0,1} add(x, b)
}"""


def test_arguments_are_placed_where_they_are_read_as_they_are() -> None:
    session = xe.compile(PLACED)
    x, p = (
        np.arange(15, dtype=np.float32).reshape(3, 5),
        (np.arange(7, dtype=np.int32), np.float32(2)),
    )
    placed, pair = session.place(x, p)
    assert placed.flags.f_contiguous and placed.ctypes.data % 64 == 0, (
        "the parameter's layout, at a cache line"
    )
    assert isinstance(pair, tuple) and pair[0].ctypes.data % 64 == 0
    np.testing.assert_array_equal(session(placed, pair), x + 2)
    x[0, 0] = 100
    assert session(placed, pair)[0, 0] == 2, "a copy"
    with pytest.raises(ArgumentError, match=r"parameter 0 \(%x\)"):
        session.place(x.T, p)


@pytest.mark.parametrize("backend", ["interpreter", "gpu"])
def test_other_backends_take_their_placed_arguments(backend: str) -> None:
    session = xe.compile(PLACED, backend=backend)
    x, p = (
        np.arange(15, dtype=np.float32).reshape(3, 5),
        (np.arange(7, dtype=np.int32), np.float32(2)),
    )
    np.testing.assert_array_equal(session(*session.place(x, p)), x + 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X.astype(np.float64),), ["parameter 0 (%x)", "f32[64,96]", "float64"]),
        ((X[:, :5],), ["parameter 0 (%x)", "[64, 96]", "[64, 5]"]),
        ((X, X), ["takes 1 argument", "x: f32[64,96]", "got 2"]),
        ((), ["takes 1 argument", "got 0"]),
    ],
)
def test_wrong_arguments_name_both_sides(
    softmax: Session, arguments: tuple[object, ...], words: list[str]
) -> None:
    with pytest.raises(ArgumentError) as caught:
        softmax(*arguments)
    for word in words:
        assert word in str(caught.value)


def test_artifacts(softmax: Session) -> None:
    assert {"hlo", "hlo-optimized", "llvm-ir", "llvm-ir-optimized", "assembly"} <= set(
        softmax.stages()
    )
    assert "define" in softmax.llvm_ir() and "define" in softmax.llvm_ir(optimized=False)
    assert softmax.stage("llvm-ir").text == softmax.llvm_ir(optimized=False)
    assert len(softmax.assembly().splitlines()) > 20
    with pytest.raises(KeyError, match="llvm-ir"):
        softmax.stage("nothing")
    with pytest.raises(xe.XlaExplorerError, match="interpreter has no stage 'llvm-ir"):
        xe.compile(softmax.source, backend="interpreter").llvm_ir()


def test_ptx_of_the_same_source(softmax: Session) -> None:
    text = softmax.ptx()
    assert ".version" in text and ".entry" in text
    assert softmax.gpu().backend == "gpu"
    np.testing.assert_allclose(softmax.gpu()(X), softmax(X), rtol=1e-5)


def test_long_code_shows_itself_capped(softmax: Session) -> None:
    text = softmax.assembly()
    assert len(repr(text).splitlines()) <= 402
    assert set(text._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_kernels_say_where_they_run(softmax: Session) -> None:
    frame = softmax.kernels()
    assert list(frame.columns) == [name for name in Kernel._fields if name in frame.columns]
    assert {"kernel", "runs_on", "predicted_us", "bytes", "line"} <= set(frame.columns)
    # Columns of timelines, of several modules and of streams are left out.
    assert {"stream", "device", "module", "total_us"}.isdisjoint(frame.columns)
    assert set(frame["runs_on"]) <= {"kernel", "library", "copy", "evaluator"} and len(
        frame
    ) == len(program_steps(softmax))


def test_source_lines_by_metadata_then_by_text(softmax: Session) -> None:
    assert softmax.explain("%e").line == "model.py:8"
    assert softmax.explain("sum").line == "<hlo>:26"
    fusion = next(s for s in program_steps(softmax) if s.opcode == "fusion")
    assert softmax.explain(fusion.instruction).line


def test_shown_as_text_and_html(softmax: Session) -> None:
    bundle = softmax._repr_mimebundle_()
    assert (
        bundle["text/plain"].startswith("<Session softmax on cpu:")
        and len(bundle["text/html"]) < 300_000
    )
    assert "Fusion" in bundle["text/html"] or "Decisions" in bundle["text/html"]


def test_a_failed_pass_keeps_everything_before(
    monkeypatch: pytest.MonkeyPatch, softmax: Session
) -> None:
    from xla_explorer.compiler.transforms.fusion.instruction_fusion import InstructionFusion

    def fail(self: object, module: object, context: object) -> bool:
        raise RuntimeError("no fusion today")

    monkeypatch.setattr(InstructionFusion, "run", fail)
    with pytest.raises(xe.errors.CompileFailedError, match="no fusion today") as caught:
        xe.compile(softmax.source)
    session = caught.value.session
    assert session.passes[-1].name == "fusion" and session.passes[-1].error
    assert session.passes[1].module.instruction_count() > 0 and "FAILED" in repr(session)
    assert "no fusion today" in session._repr_mimebundle_()["text/html"]
    with pytest.raises(xe.errors.CompileFailedError):
        session(X)
    kept = xe.compile(softmax.source, keep_errors=True)
    assert kept.error is not None and xe.graph(kept).to_svg().startswith("<svg")


def test_unknown_names_have_near_ones(softmax: Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match="cpu"):
        xe.compile(softmax.source, backend="cpuu")
    with pytest.raises(xe.XlaExplorerError, match="algsimp"):
        xe.compile(softmax.source, passes="algsim")
    with pytest.raises(xe.XlaExplorerError, match="%shifted"):
        softmax.explain("%shiftd")


@pytest.mark.parametrize("level", ["off", "passes", "decisions", "everything"])
def test_every_journal_level_compiles_and_shows(level: str, softmax: Session) -> None:
    session = xe.compile(softmax.source, journal=level)
    np.testing.assert_allclose(session(X), _softmax(X), rtol=1e-5)
    assert session._repr_mimebundle_()["text/html"] and xe.graph(session).to_svg()
    assert (len(session.decisions("fusion")) > 0) == (level in ("decisions", "everything"))
