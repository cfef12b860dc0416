"""Resources of kernels by ptxas, the occupancy that they allow, and SASS with HLO lines."""

import pytest

import xla_explorer as xe
from tests.backends.gpu.gpu_modules import SOFTMAX
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.disassembly import why_no_sass, with_origins
from xla_explorer.backends.gpu.occupancy import REPORT_COLUMNS, occupancy
from xla_explorer.backends.gpu.ptx_assembler import find_ptxas
from xla_explorer.foundation.diagnostic import XlaExplorerError


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limited_by"),
    [
        (256, 32, 0, 8, "threads"),
        (256, 64, 0, 4, "registers"),
        (256, 33, 0, 6, "registers"),
        (32, 16, 0, 32, "blocks"),
        (128, 16, 48 << 10, 4, "shared memory"),
        (1024, 64, 4096, 1, "registers"),
    ],
)
def test_occupancy(threads, registers, shared, blocks, limited_by):
    found = occupancy(threads, registers, shared, gpu_architecture("sm_90"))
    assert (found.blocks, found.limited_by) == (blocks, limited_by)
    assert found.share == blocks * threads / 2048


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
def test_report_of_a_session():
    frame = xe.compile(SOFTMAX, backend="gpu", device="emulator").kernels(resources=True)
    assert list(frame.columns) == list(REPORT_COLUMNS)
    (row,) = frame.to_dict("records")
    assert (
        row["emitter"] == "row-reduction"
        and row["spill_bytes"] == 0
        and row["shared_bytes"] > 0
        and 0.5 <= row["occupancy"] <= 1
    )


def test_sass_or_what_to_install():
    session = xe.compile(SOFTMAX, backend="gpu", device="emulator")
    if why_no_sass() is None:
        assert "EXIT" in str(session.gpu().assembly())
    else:
        with pytest.raises(XlaExplorerError, match="XLA_EXPLORER_NVDISASM"):
            session.gpu().assembly()


def test_lines_of_sass_have_origins():
    said = """\t.section\t.text.k,"ax",@progbits
k:
\t//## File "module.hlo", line 6
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
\t//## File "module.hlo", line 3
        /*0020*/                   FADD R2, R2, R3 ;
"""
    text, origins = with_origins(said)
    assert "File" not in text and len(text.splitlines()) == len(origins)
    assert [o for o in origins if o is not None] == [5, 5, 2]
