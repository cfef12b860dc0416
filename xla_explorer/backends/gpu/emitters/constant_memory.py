"""Constants in the constant bank (`.const`, 64 KiB a module), for uniform reads of a warp.

The bank's cache serves one address of a warp at a time: equal addresses together, different ones in
turn, while global memory serves contiguous elements at once. Source: CUDA C++ Best Practices Guide,
"Constant Memory"; PTX ISA, "Constant State Space"; LLVM, docs/NVPTXUsage.rst, address space 4. XLA
keeps large constants as global symbols (xla/service/gpu/ir_emission_utils.cc).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.emitters.uniformity import UniformityAnalysis
from xla_explorer.compiler.codegen.ir.definitions import constant_bytes
from xla_explorer.compiler.codegen.ir.records import Body, Instruction, Phi
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

CONSTANT_BANK = (
    "constant-bank",
    "Read constants from the constant bank if a warp reads one address.",
)
BANK_BYTES = 64 << 10
_MOST_ADDRESSES = 1.25  # per warp on average: sometimes a warp spans the border of two rows


_BANK = Type("ptr", space=4)


class _Uses:
    """Records that use a parameter.

    addresses: computed from it. loads: from these addresses. Both are keyed by position in the
    function.
    """

    def __init__(self, body: Body, parameter: str) -> None:
        self.addresses: dict[int, Instruction] = {}
        self.loads: dict[int, Instruction] = {}
        self.all = 0
        pointers: set[str] = set()
        for place, record in enumerate(body):
            if not isinstance(record, (Instruction, Phi)):
                continue
            operands = (
                [x.name for x, _ in record.incoming]
                if isinstance(record, Phi)
                else [o.name for o in record.operands]
            )
            if pointers.isdisjoint(operands) and parameter not in operands:
                continue
            self.all += 1
            if (
                isinstance(record, Instruction)
                and record.op == "getelementptr"
                and record.result is not None
            ):
                self.addresses[place] = record
                pointers.add(record.result.name)
            elif (
                isinstance(record, Instruction)
                and record.op == "load"
                and parameter not in operands
            ):
                self.loads[place] = record

    @property
    def loads_only(self) -> bool:
        """Return whether the parameter is used only by loads at addresses of elements."""
        return len(self.addresses) + len(self.loads) == self.all


class ConstantPlacement(NamedTuple):
    """The decision about a constant that a kernel reads.

    addresses: distinct addresses of a warp on average; None: unknown. bank_bytes: used in the
    constant bank, with this constant. reason: for global memory. forced: by the user.
    """

    constant: HloInstruction
    size: int
    loads: int
    addresses: float | None
    bank_bytes: int
    reason: Reason | None
    forced: bool = False


class ConstantBank:
    """The constant bank of one module, with its contents so far."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Bytes in use."""
        return sum(self._taken.values())

    def place(
        self,
        made: GpuKernel,
        constants: Mapping[int, HloInstruction],
        overrides: Mapping[HloInstruction, str] = MappingProxyType({}),
    ) -> tuple[GpuKernel, list[ConstantPlacement]]:
        """Move uniformly read constants of a kernel into the bank.

        constants: by the number of the parameter that points to one. overrides: `force` or
        `forbid`, by constant.
        """
        values: UniformityAnalysis | None = None
        placements = []
        for parameter, constant in constants.items():
            uses = _Uses(made.kernel.body, f"%a{parameter}")
            if not uses.all or not constant.shape.rank:
                continue
            values = values or UniformityAnalysis(
                made.kernel.body, made.launch.blocks, made.launch.threads_per_block
            )
            placement = self._placement_of(constant, uses, values, overrides.get(constant, ""))
            placements.append(placement)
            if placement.reason is None:
                made = _moved(made, constant, uses)
        return made, placements

    def _placement_of(
        self, constant: HloInstruction, uses: _Uses, values: UniformityAnalysis, override: str
    ) -> ConstantPlacement:
        name, size = f"%{constant.name}", constant.shape.byte_size
        loads = uses.loads
        counts = [values.distinct(record.operands[1]) for record in uses.addresses.values()]
        seen = [count for count in counts if count is not None]
        most = max(seen) if seen and len(seen) == len(counts) else None
        facts = {"bytes": size, "loads": len(loads), "addresses_per_warp": most}
        symbol = _symbol(constant)
        after = self.size if symbol in self._taken else self.size + size
        reason, divergent = None, most is None or most > _MOST_ADDRESSES
        if override == "forbid":
            reason = refuse(
                "forbidden-by-user",
                f"an override forbids %{constant.name} in the constant bank for this kernel",
                **facts,
            )
        elif not uses.loads_only:
            reason = refuse(
                "constant-address-taken",
                f"{name}: an instruction other than a load uses its address",
                **facts,
            )
        elif divergent and override == "force" and after <= BANK_BYTES:
            self._taken[symbol] = size  # forced: correct, although its reads are slower
        elif most is None:
            reason = refuse(
                "divergent-constant",
                f"{name} is read at indices that come from memory or differ by lane",
                **facts,
            )
        elif divergent:
            reason = refuse(
                "divergent-constant",
                f"{name}: a warp reads {most:.3g} elements at a time, served in turn",
                **facts,
            )
        elif after > BANK_BYTES:
            text = (
                f"{name}: with its {size} bytes all constants take {after}, the bank has "
                f"{BANK_BYTES}"
            )
            reason = refuse("constant-bank-full", text, **facts)
        else:
            self._taken[symbol] = size
        return ConstantPlacement(
            constant,
            size,
            len(loads),
            most,
            self.size,
            reason,
            override == "force" and reason is None,
        )


def _symbol(constant: HloInstruction) -> str:
    return f"const_{hashlib.sha256(_data(constant)).hexdigest()[:16]}"


def _data(constant: HloInstruction) -> bytes:
    """Return the constant's bytes in its layout, the minor dimension last."""
    order = tuple(reversed(constant.shape.layout.minor_to_major))
    return np.ascontiguousarray(constant.literal.array.transpose(order)).tobytes()


def _moved(made: GpuKernel, constant: HloInstruction, uses: _Uses) -> GpuKernel:
    symbol, data = _symbol(constant), _data(constant)
    records = list(made.kernel.body)
    pointers: dict[str, Value] = {}
    for place, record in sorted({**uses.addresses, **uses.loads}.items()):
        if place in uses.addresses:
            pointer, at = record.operands
            assert record.result is not None
            moved = pointers[record.result.name] = pointer.builder.named(record.result.name, _BANK)
            record = record._replace(
                result=moved,
                operands=(
                    pointers.get(pointer.name) or pointer.builder.named(f"@{symbol}", _BANK),
                    at,
                ),
            )
        else:
            record = record._replace(operands=(pointers[record.operands[0].name],))
        records[place] = record
    table = constant_bytes(symbol, data, 16, _BANK.space)
    kernel = made.kernel._replace(body=Body(records), globals=(*made.kernel.globals, table))
    return made._replace(kernel=kernel)
