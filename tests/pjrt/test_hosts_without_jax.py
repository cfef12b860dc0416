"""Hosts of the C interface other than JAX load the file of a command: ctypes, torch_xla.

torch_xla is tested if it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import struct
from pathlib import Path

import pytest

from tests.pjrt.child import output, run
from xla_explorer.cli.main import main

pytestmark = [pytest.mark.codegen, pytest.mark.usefixtures("runs_here")]

HOST = """
import ctypes, sys
import numpy as np
from tests.frontends.hlo_proto.test_read_hlo_proto import scaled
from xla_explorer.cli.main import main
from xla_explorer.pjrt.layouts import ARGUMENTS, CALLBACK, Api, ExecuteOptions, Program

assert main(["pjrt-plugin", "-o", sys.argv[1]]) == 0
find = ctypes.PyDLL(sys.argv[1]).GetPjrtApi
find.restype = ctypes.c_void_p
table, kept = Api.from_address(find()), []

def call(name, **values):
    a = ARGUMENTS[name](**values)
    a.struct_size = ctypes.sizeof(a)
    kept.append(a)
    error = CALLBACK(getattr(table, name))(ctypes.addressof(a))
    assert error is None, name
    return a

call("Plugin_Initialize")
assert call("Plugin_Attributes").num_attributes == 0
client = call("Client_Create").client
code, form = ctypes.create_string_buffer(scaled(), len(scaled())), ctypes.create_string_buffer(b"hlo")
program = Program(code=ctypes.addressof(code), code_size=len(code), format=ctypes.addressof(form), format_size=3)
loaded = call("Client_Compile", client=client, program=ctypes.addressof(program)).executable
asked = Program()
executable = call("LoadedExecutable_GetExecutable", loaded=loaded).executable
call("Executable_OptimizedProgram", executable=executable, program=ctypes.addressof(asked))
text = ctypes.create_string_buffer(asked.code_size)
asked.code = ctypes.addressof(text)
call("Executable_OptimizedProgram", executable=executable, program=ctypes.addressof(asked))
assert scaled() in text.raw, "the program as it was given: nothing here writes protos"
x, dims = np.full((2, 3), 2, np.float32), (ctypes.c_int64 * 2)(2, 3)
given = call("Client_BufferFromHostBuffer", client=client, data=x.ctypes.data, type=11, dims=ctypes.addressof(dims), num_dims=2, semantics=0).buffer
row, made = (ctypes.c_size_t * 1)(given), (ctypes.c_size_t * 1)()
rows, outputs = [(ctypes.c_size_t * 1)(ctypes.addressof(a)) for a in (row, made)]
options = ExecuteOptions(struct_size=ctypes.sizeof(ExecuteOptions))
call("LoadedExecutable_Execute", executable=loaded, options=ctypes.addressof(options), arguments=ctypes.addressof(rows), num_devices=1,
     num_args=1, outputs=ctypes.addressof(outputs))
y = np.zeros((2, 3), np.float32)
call("Buffer_ToHostBuffer", buffer=made[0], dst=y.ctypes.data, dst_size=y.nbytes)
print(y.tolist(), [name for name in ("jax", "jaxlib") if name in sys.modules])
"""


@pytest.mark.long
def test_a_host_without_jax_loads_the_file_and_hands_over_an_hlo_proto(tmp_path: Path) -> None:
    file = tmp_path / "libxla_explorer_pjrt.so"
    *said, computed = output(HOST, str(file)).splitlines()
    assert computed == "[[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]] []" and str(file) in said[0]
    image = file.read_bytes()
    assert image[:4] == b"\x7fELF" and struct.unpack_from("<H", image, 16) == (3,), (
        "a shared object"
    )


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("torch_xla") is None, reason="torch_xla is not installed"
)
def test_torch_xla_trains_a_small_cnn(tmp_path: Path) -> None:
    file = tmp_path / "libxla_explorer_pjrt.so"
    assert main(["pjrt-plugin", "-o", str(file)]) == 0
    done = run(
        str(Path(__file__).with_name("torch_xla_cnn.py")),
        "8",
        PJRT_DEVICE="XLA_EXPLORER",
        XLA_EXPLORER_PLUGIN=str(file),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    losses, said = done.stdout.splitlines()
    ours, cpu = json.loads(losses)
    assert ours == pytest.approx(cpu, rel=1e-5) and ours[-1] < ours[0]
    assert said.endswith(" 0"), "no step on the evaluator"
