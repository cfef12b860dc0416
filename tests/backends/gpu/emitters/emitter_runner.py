"""Run the kernels of one instruction on the emulator: values, faults, races, counters."""

from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import EmittedKernels, write_gpu_kernels
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.backends.gpu.gpu_stages import PTX_OPTIMIZATION
from xla_explorer.backends.gpu.kernel_module import KernelModule
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo


class Ran(NamedTuple):
    """emitted: what was chosen. values, wanted: result leaves. rows: counters. ptx: the text."""

    emitted: EmittedKernels
    values: list[Any]
    wanted: list[Any]
    rows: list[dict[str, Any]]
    ptx: str

    def conflicts(self):
        """Return the worst bank conflict of a shared-memory access."""
        return max([row["bank_conflict"] for row in self.rows if row["bank_conflict"]], default=1.0)

    def sector_use(self):
        """Return the lowest share of useful bytes in the sectors of a global whole-warp access."""
        return min(
            [row["sector_use"] for row in self.rows if row["sector_use"] and row["active"] > 0.9],
            default=1.0,
        )


def ptx_of(text, architecture="sm_90", write=write_gpu_kernels):
    """Return the root, its emitter, the kernels' names and their PTX.

    architecture: a name, or facts.
    """
    facts = gpu_architecture(architecture) if isinstance(architecture, str) else architecture
    root = parse_hlo(text).entry.root
    emitted = write(root, facts)
    module = KernelModule(facts)
    kernels = [module.add(f"{root.name}{one.suffix}", root.id, one) for one in emitted.kernels]
    return (
        root,
        emitted,
        kernels,
        emit_assembly(module.write(), facts.target, PTX_OPTIMIZATION),
    )


def assemble_everywhere(text):
    """Ptxas takes the PTX for each of these; nothing spills."""
    if find_ptxas() is None:
        return
    for architecture in ("sm_80", "sm_90", "sm_90a"):
        for row in assemble_ptx(ptx_of(text, architecture)[3], architecture).resources:
            assert row.spill_stores <= 16, row


def run(
    text,
    *inputs,
    assemble=True,
    architecture="sm_90",
    change=None,
    findings=None,
    write=write_gpu_kernels,
) -> Ran:
    """Run the entry's root with every access checked and races searched for.

    Its operands are parameters and constants.

    change: what is done to the PTX before; findings: a list that takes the faults, of which there
    must otherwise be none. write: what writes the kernels.
    """
    root, emitted, kernels, ptx = ptx_of(text, architecture, write)
    ptx = ptx if change is None else change(ptx)
    if assemble:
        assemble_everywhere(text)
    parsed, device = parse_ptx(ptx), GlobalMemory()
    addresses = []
    for o in root.operands if root.opcode.name == "fusion" else tuple(dict.fromkeys(root.operands)):
        given = inputs[o.payload] if o.opcode.name == "parameter" else o.literal.array
        array = np.asarray(given, o.shape.element_type.dtype).reshape(o.shape.dimensions)
        stored = np.ascontiguousarray(
            array.transpose(tuple(reversed(o.shape.layout.minor_to_major)))
        ).reshape(-1)
        addresses.append(device.allocate(stored.nbytes, o.name))
        device.write(addresses[-1], stored.view(np.uint8))
    results = []
    for _, leaf in root.shape.leaves():
        size = leaf.element_count * leaf.element_type.bytes
        addresses.append(device.allocate(size, "result"))
        results.append((addresses[-1], leaf, size))
    scratch = [device.allocate(emitted.scratch_bytes, "scratch")] if emitted.scratch_bytes else []
    rows = []
    for made in kernels:
        kernel = EmulatedKernel(parsed, parsed.kernels[made.name], device)
        arguments = [*addresses, *scratch] if made.scratch else addresses
        arguments = [
            *arguments,
            *[PlacedTensorMap(one, addresses[one.parameter]) for one in made.tensor_maps],
        ]
        options = LaunchOptions(global_races=True, counters=True)
        done = kernel.launch(
            made.launch.blocks,
            made.launch.threads_per_block,
            arguments,
            options,
            made.dynamic_shared_bytes,
        )
        if findings is not None:
            findings.extend(done.findings)
        else:
            assert done.findings == [], done.findings[0]
        rows += kernel.counters.rows()
    values = []
    for address, leaf, size in results:
        order = tuple(reversed(leaf.layout.minor_to_major))
        flat = device.read(address, size).view(leaf.element_type.dtype)
        values.append(
            flat.reshape([leaf.dimensions[d] for d in order]).transpose(np.argsort(order))
            if order
            else flat.reshape(())
        )
    wanted = evaluate(parse_hlo(text), *inputs)
    return Ran(
        emitted,
        values,
        [np.asarray(x) for x in (wanted if isinstance(wanted, tuple) else (wanted,))],
        rows,
        ptx,
    )


def check(text, *inputs, relative=1e-5, assemble=True, architecture="sm_90") -> Ran:
    """Run, and compare values: exactly for integers and preds."""
    ran = run(text, *inputs, assemble=assemble, architecture=architecture)
    for found, wanted in zip(ran.values, ran.wanted, strict=True):
        if found.dtype.kind in "biu":
            assert (found == wanted).all()
        else:
            kind = np.complex128 if found.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(
                found.astype(kind), wanted.astype(kind), rtol=relative, atol=relative
            )
    return ran
