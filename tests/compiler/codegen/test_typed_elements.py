"""Generated elements have their instruction's type; a mismatch is refused with both types."""

import pytest

from tests.golden.golden_ir import FILES, FOLDER, run_line
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted, write_opaque_kernel
from xla_explorer.compiler.codegen.elemental import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.values import Complex, Value
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.llvm_types import pair, real, value_type
from xla_explorer.compiler.target import HOST_LIKE
from xla_explorer.hlo.primitive_type import F32, S32
from xla_explorer.hlo.text.parser import parse_hlo

ONLY_NESTS = frozenset({"dot", "convolution", "reduce-window"})
KERNELS = [name for name in FILES if run_line((FOLDER / name).read_text()).startswith("kernels")]


def test_elements_have_the_types_of_their_instructions(monkeypatch):
    seen = set()
    resolve = ElementalEmitter._resolve

    def checked(self, i, index):
        value = resolve(self, i, index)
        for part in value if isinstance(value, Complex) else (value,):
            assert isinstance(part, Value) and part.type is value_type(i.shape.element_type), (
                f"%{i.name}: {part!r}"
            )
        assert isinstance(value, Complex) == i.shape.element_type.is_complex
        seen.add((i.opcode.name, i.shape.element_type.name))
        return value

    monkeypatch.setattr(ElementalEmitter, "_resolve", checked)
    for name in KERNELS:
        for i in parse_hlo((FOLDER / name).read_text()).entry.sequence():
            body = i.called[0].instructions.values() if i.opcode.name == "fusion" else (i,)
            only_nests = any(
                x.opcode.name in ONLY_NESTS or (x.opcode.name == "reduce" and len(x.operands) != 2)
                for x in body
            )
            if (
                i.opcode.name not in ("parameter", "constant", "tuple")
                and not only_nests
                and kernel_is_emitted(i) is None
            ):
                write_opaque_kernel(i, HOST_LIKE, argument_slots(i))
    assert len(seen) > 100


def test_values_that_do_not_fit_are_refused():
    w = FunctionWriter()
    number, whole = w.named("%x", value_type(F32)), w.named("%n", value_type(S32))
    with pytest.raises(TypeError, match=r"float.*i32|i32.*float"):
        binary_value(w, "add", F32, number, whole)
    with pytest.raises(TypeError, match="complex"):
        pair(number)
    with pytest.raises(TypeError, match="real"):
        real(Complex(number, number))
    assert not w.records
