"""Runs the kernels of a module one by one on numpy arrays, and compares with the evaluator.

Every instruction of the entry that computes something becomes a kernel of its own, all in one LLVM
module. With the target "gpu" they become PTX, which the emulator runs, with every access checked
and races searched for.
"""

from __future__ import annotations

import ctypes
from functools import partial

import numpy as np

from tests.compiler.codegen.vector_math.math_module import vector_math_module
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION
from xla_explorer.backends.gpu.kernel_module import KernelModule
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly, optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted, nest_kernel, write_kernel
from xla_explorer.compiler.codegen.ir.llvm_text import body_lines
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.target import HOST_LIKE
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

NO_CODE = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})


def cpu_module(kernels):
    """LLVM IR with a function per named kernel."""
    lines, declarations, math, constants = [], {}, {}, {}
    for name, kernel in kernels:
        declarations.update(dict.fromkeys([d.text for d in kernel.declarations]))
        math.update(dict.fromkeys(kernel.math))
        constants.update(dict.fromkeys([g.text for g in kernel.globals]))
        pointers = ", ".join([f"ptr %a{k}" for k in range(kernel.parameters)])
        scratch = ", ptr %scratch" if kernel.scratch_bytes else ""
        lines += [f"define void @{name}({pointers}{scratch}) {{", *body_lines(kernel.body), "}", ""]
    text = vector_math_module(tuple(math)).splitlines() if math else []
    declarations.update(dict.fromkeys([line for line in text if line.startswith("declare ")]))
    functions = [line for line in text if not line.startswith("declare ")]
    return "\n".join([*constants, *lines, *functions, *declarations, "!0 = !{}", ""])


def nest_or_opaque(i, slots):
    """Return this machine's kernel from its loop nest, if it has one; else as for any CPU."""
    made = nest_kernel(i, described_cpu(libraries=False), slots)
    return made if isinstance(made, Kernel) else write_kernel(i, HOST_LIKE, slots)


def native_kernels(kernels, preset):
    """Return a function that runs a native kernel on arrays (None for an unused parameter)."""
    compiled = optimize_and_emit(cpu_module(kernels), preset=preset)
    library = NativeLibrary(compiled.objects, {}, [name for name, _ in kernels])

    def run(name, kernel, arrays):
        pointers = [0 if a is None else a.ctypes.data for a in arrays]
        scratch = np.full(kernel.scratch_bytes + 64, 0xA5, np.uint8)
        own = [scratch.ctypes.data + -scratch.ctypes.data % 64] if kernel.scratch_bytes else []
        library.bind(name, None, [ctypes.c_void_p] * (len(pointers) + len(own)))(*pointers, *own)

    return run


def ptx_kernels(kernels, preset):
    """Run the kernels of the GPU's emitters on the emulator (one or two launches).

    Any fault is an error.
    """
    architecture = gpu_architecture()
    module = KernelModule(architecture)
    added = {
        name: [module.add(name, 0, one, may_overlap=True) for one in emitted.kernels]
        for name, emitted in kernels
    }
    parsed = parse_ptx(emit_assembly(module.write(), architecture.target, PTX_OPTIMIZATION))

    def run(name, emitted, arrays):
        device = GlobalMemory()
        addresses = []
        for number, array in enumerate(arrays):
            addresses.append(
                0 if array is None else device.allocate(array.nbytes, f"argument {number}")
            )
            if array is not None:
                device.write(addresses[-1], array.view(np.uint8))
        scratch = (
            [device.allocate(emitted.scratch_bytes, "scratch")] if emitted.scratch_bytes else []
        )
        for one in added[name]:
            kernel = EmulatedKernel(parsed, parsed.kernels[one.name], device)
            given = [*addresses, *scratch] if one.scratch else addresses
            result = kernel.launch(
                one.launch.blocks,
                one.launch.threads_per_block,
                given,
                LaunchOptions(global_races=True),
            )
            assert result.findings == [], result.findings[0]
        for address, array in zip(addresses, arrays, strict=True):
            if array is not None:
                array.view(np.uint8)[:] = device.read(address, array.nbytes)

    return run


def _in_memory(array, shape):
    """Return the bytes of an array as the shape's layout orders them."""
    array = np.asarray(array, shape.element_type.dtype).reshape(shape.dimensions)
    return (
        np.ascontiguousarray(array.transpose(tuple(reversed(shape.layout.minor_to_major))))
        .reshape(-1)
        .copy()
    )


def _logical(memory, shape):
    order = tuple(reversed(shape.layout.minor_to_major))
    return (
        memory.reshape([shape.dimensions[d] for d in order]).transpose(np.argsort(order))
        if order
        else memory.reshape(())
    )


def _written_kernels(entry, target, in_place):
    """Return (instruction, function name, argument slots, kernel) in the order of execution."""
    write = (
        partial(write_gpu_kernels, architecture=gpu_architecture())
        if target == "gpu"
        else nest_or_opaque
    )
    made = []
    assert set(in_place) <= {i.name for i in entry.sequence()}, f"no instruction {in_place}"
    for i in entry.sequence():
        if i.opcode.name in NO_CODE:
            continue
        reason = kernel_is_emitted(i)
        assert reason is None, reason
        slots = list(argument_slots(i))
        if i.name in in_place:
            slots[-1] = 0
        made.append((i, f"k{len(made)}", tuple(slots), write(i, slots=tuple(slots))))
    return made


def run_kernels(text, *inputs, target="cpu", in_place=(), preset="fast"):
    """Return the entry's result leaves as numpy arrays.

    in_place: names of instructions whose result overwrites their first operand.
    """
    module = parse_hlo(text) if isinstance(text, str) else text
    entry = module.entry
    made = _written_kernels(entry, target, in_place)
    run = (ptx_kernels if target == "gpu" else native_kernels)(
        [(name, kernel) for _, name, _, kernel in made], preset
    )
    memory = {}
    for p in entry.parameters():
        memory[p, ()] = _in_memory(inputs[p.payload], p.shape)

    def buffer(i, index=()):
        if (i, index) not in memory:
            name = i.opcode.name
            if name == "constant":
                memory[i, index] = _in_memory(i.literal.array, i.shape)
            elif name == "tuple":
                return buffer(i.operands[index[0]], index[1:])
            elif name == "get-tuple-element":
                return buffer(i.operands[0], (i.attribute("index"), *index))
        return memory[i, index]

    for i, name, slots, kernel in made:
        operands = i.operands if i.opcode.name == "fusion" else tuple(dict.fromkeys(i.operands))
        arrays = [buffer(o) for o in operands]
        for index, leaf in i.shape.leaves():
            if i.name in in_place:
                arrays[0] = memory[i, index] = arrays[0].copy()
            else:
                # Filled with a pattern, so that a missing store shows.
                memory[i, index] = np.full(
                    leaf.element_count * leaf.element_type.bytes, 0xA5, np.uint8
                ).view(leaf.element_type.dtype)
            arrays.append(memory[i, index])
        by_slot = dict(zip(slots, arrays, strict=True))
        run(name, kernel, [by_slot.get(k) for k in range(max(slots, default=-1) + 1)])
    return [
        _logical(buffer(entry.root, index), leaf)
        for index, leaf in entry.root.shape.leaves()
        if leaf.is_array
    ]


def leaves_of(value):
    """Return a nested tuple as a flat list of arrays."""
    return (
        [leaf for part in value for leaf in leaves_of(part)]
        if isinstance(value, (tuple, list))
        else [np.asarray(value)]
    )


def assert_same(found, wanted, what="", relative=0.0, absolute=0.0):
    """Assert equal bits, all NaNs being equal, or values within an absolute or relative error."""
    assert found.shape == wanted.shape, f"{what}: shape {found.shape} instead of {wanted.shape}"
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype} instead of {wanted.dtype}"
    if found.dtype.kind in "biu":
        wrong = found != wanted
    else:
        kind = np.complex128 if found.dtype.kind == "c" else np.float64
        a, b = found.astype(kind), wanted.astype(kind)
        parts = [(a.real, b.real), (a.imag, b.imag)] if kind is np.complex128 else [(a, b)]
        wrong = np.zeros(found.shape, bool)
        with np.errstate(all="ignore"):
            for x, y in parts:
                same = (x == y) & (np.signbit(x) == np.signbit(y)) | (np.isnan(x) & np.isnan(y))
                if relative:
                    same |= np.abs(x - y) <= np.maximum(
                        relative * np.maximum(np.abs(a), np.abs(b)), absolute
                    )
                wrong |= ~same
    if wrong.any():
        where = tuple(np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} elements differ, first at {[int(x) for x in where]}: "
            f"{found[where]} instead of {wanted[where]}"
        )


def check_kernels(
    text, *inputs, target="cpu", in_place=(), relative=0.0, absolute=0.0, preset="fast"
):
    """Run and compare with the evaluator, result leaf by result leaf."""
    module = parse_hlo(text)
    wanted = leaves_of(evaluate(module, *inputs))
    found = run_kernels(module, *inputs, target=target, in_place=in_place, preset=preset)
    assert len(found) == len(wanted)
    root = module.entry.root
    names = (
        [o.name for o in root.operands] if root.opcode.name == "tuple" else [root.name] * len(found)
    )
    for name, a, b in zip(names, found, wanted, strict=False):
        assert_same(a, b, f"%{name} ({target})", relative, absolute)
