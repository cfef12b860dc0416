"""Answers of ptxas to our PTX; skipped with the reason if ptxas is not installed."""

import pytest

from tests.backends.gpu.gpu_modules import BRANCHES, DOT, LOOP, SOFTMAX, SORT, compiled
from xla_explorer.backends.gpu import ptx_assembler
from xla_explorer.backends.gpu.ptx_assembler import (
    PtxAssemblerError,
    assemble_ptx,
    find_ptxas,
    why_no_ptxas,
)

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason=str(why_no_ptxas()))


@needs_ptxas
@pytest.mark.parametrize(
    "module",
    [SOFTMAX, LOOP, DOT, SORT, BRANCHES],
    ids=["softmax", "loop", "dot", "sort", "branches"],
)
def test_ptxas_accepts(module):
    result = compiled(module)
    assembled = assemble_ptx(result.stages["ptx"].text)
    assert assembled.cubin[:4] == b"\x7fELF"
    assert [row.name for row in assembled.resources] == [k.name for k in result.program.kernels]
    assert all(0 < row.registers <= 255 and row.spill_stores == 0 for row in assembled.resources)


@needs_ptxas
@pytest.mark.parametrize("architecture", ["sm_80", "sm_89", "sm_90a"])
def test_other_architectures(architecture):
    assembled = assemble_ptx(compiled(SOFTMAX, architecture).stages["ptx"].text, architecture)
    assert {row.architecture for row in assembled.resources} == {architecture}


@needs_ptxas
def test_refusal_shows_the_line():
    text = compiled(SOFTMAX).stages["ptx"].text.replace("fma.rn.f32", "fma.wrong.f32", 1)
    with pytest.raises(PtxAssemblerError, match=r"line \d+: .*fma\.wrong\.f32"):
        assemble_ptx(text)


def test_missing_ptxas_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ptx_assembler, "find_ptxas", lambda: None)
    assert ptx_assembler.why_no_ptxas().code == "no-ptxas"
    with pytest.raises(PtxAssemblerError, match="nvidia-cuda-nvcc"):
        assemble_ptx(".version 8.3")


def test_ptxas_that_does_not_end(monkeypatch, tmp_path):
    program = tmp_path / "ptxas"
    program.write_text("#!/bin/sh\nexec sleep 20\n")
    program.chmod(0o755)
    monkeypatch.setattr(ptx_assembler, "find_ptxas", lambda: str(program))
    monkeypatch.setattr(ptx_assembler, "_SECONDS", 0.2)
    with pytest.raises(PtxAssemblerError, match=r"ptxas did not finish within 0\.2 s"):
        assemble_ptx(".version 8.3")
