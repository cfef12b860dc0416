"""Constants in the constant bank (`.const`, 64 KiB a module), where kernels read them at one address a warp.

The bank's cache hands a warp one address at a time: lanes that ask for the same one are served together, others in turn, while global
memory's serves neighbours at once. Source: CUDA C++ Best Practices Guide, "Constant Memory"; PTX ISA, "Constant State Space"; LLVM,
docs/NVPTXUsage.rst, address space 4. XLA keeps large constants as global symbols (xla/service/gpu/ir_emission_utils.cc).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emitters.selection import EmittedKernel
from xla_explorer.backends.gpu.emitters.warp_values import WarpValues
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

BANK_BYTES = 64 << 10
_MOST_ADDRESSES = 1.25  # a warp, on the average: now and then one lies across the border of two rows
_ADDRESS = re.compile(r"^  (%\S+) = getelementptr (?:[a-z]+ )*([^,]+), ptr addrspace\(1\) (%a\d+), i64 (\S+)$")


class ConstantPlacement(NamedTuple):
    """What was decided for a constant that a kernel reads. addresses: that a warp reads at a time, on the average; None: unknown.
    bank_bytes: of the constant bank that are taken, this one included. reason: why it stays in global memory. forced: by the user."""

    constant: HloInstruction
    size: int
    loads: int
    addresses: float | None
    bank_bytes: int
    reason: Reason | None
    forced: bool = False


class ConstantBank:
    """The bank of one module: what is in it already."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Bytes taken."""
        return sum(self._taken.values())

    def place(
        self, made: EmittedKernel, constants: Mapping[int, HloInstruction], overrides: Mapping[HloInstruction, str] = MappingProxyType({})
    ) -> tuple[EmittedKernel, list[ConstantPlacement]]:
        """The kernel with what it reads uniformly in the bank. constants: by the number of the parameter that points to one. overrides:
        `force` or `forbid`, by constant."""
        values: WarpValues | None = None
        placements = []
        for parameter, constant in constants.items():
            uses = [line for line in made.kernel.lines if re.search(rf"%a{parameter}(?!\d)", line)]
            if not uses or not constant.shape.rank:
                continue
            values = values or WarpValues(made.kernel.lines, made.launch.blocks, made.launch.threads_per_block)
            placement = self._weighed(made, constant, parameter, uses, values, overrides.get(constant, ""))
            placements.append(placement)
            if placement.reason is None:
                made = made._replace(kernel=_moved(made, constant, parameter))
        return made, placements

    def _weighed(
        self, made: EmittedKernel, constant: HloInstruction, parameter: int, uses: list[str], values: WarpValues, override: str
    ) -> ConstantPlacement:
        name, size = f"%{constant.name}", constant.shape.byte_size
        addresses = [found for line in uses if (found := _ADDRESS.match(line)) and found[3] == f"%a{parameter}"]
        pointers = {found[1] for found in addresses}
        loads = [line for line in made.kernel.lines if any(_is_load(line, pointer) for pointer in _mentioned(line) & pointers)]
        users = [line for line in made.kernel.lines if (_mentioned(line) & pointers) and not _defines(line, pointers)]
        counts = [values.distinct(found[4]) for found in addresses]
        seen = [count for count in counts if count is not None]
        most = max(seen) if seen and len(seen) == len(counts) else None
        facts = {"bytes": size, "loads": len(loads), "addresses_per_warp": most}
        symbol = _symbol(constant)
        after = self.size if symbol in self._taken else self.size + size
        reason, divergent = None, most is None or most > _MOST_ADDRESSES
        if override == "forbid":
            reason = refuse("forbidden-by-user", f"the user forbids %{constant.name} in the constant bank for this kernel", **facts)
        elif len(addresses) != len(uses) or len(loads) != len(users):
            reason = refuse("constant-address-taken", f"{name}: its address goes elsewhere than into loads", **facts)
        elif divergent and override == "force" and after <= BANK_BYTES:
            self._taken[symbol] = size  # slower, as it reads, but as right
        elif most is None:
            reason = refuse("divergent-constant", f"{name} is read at indices that come from memory or differ by lane", **facts)
        elif divergent:
            reason = refuse("divergent-constant", f"{name}: a warp reads {most:.3g} elements at a time, served in turn", **facts)
        elif after > BANK_BYTES:
            reason = refuse("constant-bank-full", f"{name}: its {size} bytes would make {after} in all, of {BANK_BYTES}", **facts)
        else:
            self._taken[symbol] = size
        return ConstantPlacement(constant, size, len(loads), most, self.size, reason, override == "force" and reason is None)


def _mentioned(line: str) -> set[str]:
    return set(re.findall(r"%[\w.]+", line))


def _defines(line: str, names: set[str]) -> bool:
    return line.strip().split(" = ")[0] in names


def _is_load(line: str, pointer: str) -> bool:
    return " = load " in line and f"ptr addrspace(1) {pointer}," in line


def _symbol(constant: HloInstruction) -> str:
    return f"@const_{hashlib.sha256(_data(constant)).hexdigest()[:16]}"


def _data(constant: HloInstruction) -> bytes:
    """As buffers have it: the minor dimension last."""
    order = tuple(reversed(constant.shape.layout.minor_to_major))
    return np.ascontiguousarray(constant.literal.array.transpose(order)).tobytes()


def _moved(made: EmittedKernel, constant: HloInstruction, parameter: int) -> Kernel:
    symbol, data = _symbol(constant), _data(constant)
    text = "".join([f"\\{byte:02X}" for byte in data])
    lines = []
    pointers: set[str] = set()
    for line in made.kernel.lines:
        found = _ADDRESS.match(line)
        if found is not None and found[3] == f"%a{parameter}":
            pointers.add(found[1])
            line = line.replace(f"ptr addrspace(1) %a{parameter},", f"ptr addrspace(4) {symbol},")
        elif " = load " in line and _mentioned(line) & pointers:
            line = line.replace("ptr addrspace(1)", "ptr addrspace(4)")
        lines.append(line)
    declaration = f'{symbol} = private unnamed_addr addrspace(4) constant [{len(data)} x i8] c"{text}", align 16'
    return made.kernel._replace(lines=tuple(lines), globals=(*made.kernel.globals, declaration))
