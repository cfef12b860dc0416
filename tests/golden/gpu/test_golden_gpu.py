"""Golden PTX of the GPU's emitters: FileCheck lines with each kernel's instructions in order."""

import re
from pathlib import Path

import pytest

from tests.golden.golden_ir import run_filecheck
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION
from xla_explorer.backends.gpu.kernel_module import KernelModule
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly
from xla_explorer.hlo.text.parser import parse_hlo

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.hlo")), ids=lambda path: path.stem)
def test_golden(path):
    text = path.read_text()
    root, facts = parse_hlo(text).entry.root, gpu_architecture("sm_90")
    emitted = write_gpu_kernels(root, facts)
    wanted = re.search(r"^// EMITTER: (\S+)$", text, re.MULTILINE)
    assert wanted is not None and emitted.emitter == wanted[1]
    module = KernelModule(facts)
    for one in emitted.kernels:
        module.add(root.name, root.id, one)
    ptx = emit_assembly(module.write(), facts.target, PTX_OPTIMIZATION)
    complaint = run_filecheck(path, "GPU", ptx)
    assert not complaint, complaint
