"""Numbers of a machine: units, and the source of each."""

import dataclasses

import pytest

from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.gpu.architecture import ARCHITECTURES, gpu_architecture
from xla_explorer.backends.gpu.gpu_compiler import gpu_target
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.target import (
    NVPTX,
    GpuUnit,
    Kind,
    Source,
    Target,
    cpu_target,
    dot_product_instruction,
    gpu_numbers,
)
from xla_explorer.foundation.plain_data import Message, packed


def test_every_number_says_where_it_comes_from() -> None:
    unit = (
        GpuUnit()
        .stating(Source.DATA_SHEET, multiprocessors=7)
        .stating(Source.DETECTED, multiprocessors=8)
    )
    assert (unit.multiprocessors, unit.source("multiprocessors"), unit.source("lanes")) == (
        8,
        Source.DETECTED,
        Source.DEFAULT,
    )
    rows = list(dataclasses.replace(NVPTX, gpu=unit).numbers())
    assert ("gpu", "multiprocessors", 8, Source.DETECTED) in rows and {
        unit for unit, *_ in rows
    } >= {
        "vector",
        "cache 1",
        "gpu",
        "launch",
    }


def test_numbers_of_one_device_stand_once() -> None:
    """The defaults are an H100's: the row of its architecture states none of its own."""
    row = gpu_architecture("sm_90")
    stated = [
        (name, value)
        for name, value, _ in row.rows()
        if name not in ("name", "product", "ptx_version")
    ]
    assert stated == [(name, value) for name, value, _ in GpuUnit().rows()]
    assert (
        row.source("clock_gigahertz") is Source.DATA_SHEET
        and row.source("dram_nanoseconds") is Source.DEFAULT
    )
    assert (
        ARCHITECTURES["sm_80"].library_rates.f16 == 1024
        and ARCHITECTURES["sm_90a"].own_rates.f16 == 2048
    )
    assert gpu_numbers(cpu_target())[0] == GpuUnit()


def test_a_kind_without_its_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="no GpuUnit"):
        Target(name="x", kind=Kind.GPU)
    with pytest.raises(ValueError, match="a GpuUnit"):
        Target(name="x", kind=Kind.CPU, gpu=GpuUnit())


@pytest.mark.parametrize(
    ("triple", "cpu", "features", "bits", "registers", "writes", "masks"),
    [
        ("x86_64-unknown-linux-gnu", "x86-64-v2", "", 128, 16, True, set()),
        ("x86_64-unknown-linux-gnu", "x86-64-v3", "", 256, 16, True, {4, 8}),
        ("x86_64-unknown-linux-gnu", "x86-64-v4", "", 512, 32, True, {1, 2, 4, 8}),
        ("aarch64-linux-gnu", "neoverse-n1", "", 128, 32, True, set()),
        ("riscv64-linux-gnu", "", "+m,+a,+f,+d,+c,+v", 128, 32, False, set()),
    ],
)
def test_cpus(
    triple: str, cpu: str, features: str, bits: int, registers: int, writes: bool, masks: set[int]
) -> None:
    target = described_cpu(describe_target(triple, cpu, features))
    assert (
        target.vector.bits,
        target.vector.registers,
        target.vectorizes_itself,
        target.vector.masks,
    ) == (bits, registers, writes, masks)
    assert (
        target.abilities.streams is triple.startswith("x86")
        and target.abilities.keeps_nan_payloads
        and not target.is_launched
    )
    assert (
        target.vector.source("bits") is Source.DATA_SHEET and not target.abilities.calls_libraries
    )


def test_long_vectors_of_sve_are_noted() -> None:
    assert described_cpu(describe_target("aarch64-linux-gnu", "neoverse-v1")).vector.is_scalable


def test_instructions_for_groups_are_those_of_the_features() -> None:
    target = cpu_target(triple="x86_64", bits=256, features=frozenset({"avxvnni"}))
    assert (
        dot_product_instruction(target, "u8", "s8") is not None
        and dot_product_instruction(cpu_target(bits=256), "u8", "s8") is None
    )


def test_a_target_travels() -> None:
    target = gpu_target(gpu_architecture("sm_80"), {"cublas": "not installed"})
    data = b"".join([bytes(part) for part in packed(target)])
    size = int.from_bytes(data[:8], "little")
    assert Message(data[8 : 8 + size], lambda n: b"").value() == target
