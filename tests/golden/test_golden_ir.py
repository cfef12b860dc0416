"""Golden LLVM IR of every emitter: FileCheck lines, and LLVM's verifier on the CPU and on NVPTX."""

import pytest
from golden_ir import FILES, FOLDER, golden_texts, run_filecheck

from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.llvm.llvm_compiler import IrModule
from xla_explorer.backends.llvm.target_machine import host_target


@pytest.mark.parametrize("name", FILES)
def test_golden(name):
    path = FOLDER / name
    source = path.read_text()
    for prefix, ir in golden_texts(source).items():
        with IrModule(ir, gpu_architecture().target if prefix == "GPU" else host_target(), verify=True):
            pass
        if f"// {prefix}" not in source:
            continue
        complaint = run_filecheck(path, prefix, ir)
        assert not complaint, f"{complaint}\n(python tests/golden/golden_ir.py {name} writes the check lines anew)"


def test_check_lines_can_fail():
    path = FOLDER / "elementwise_float.hlo"
    ir = golden_texts(path.read_text())["CHECK"]
    assert run_filecheck(path, "CHECK", ir.replace("fsub contract", "fadd contract"))
