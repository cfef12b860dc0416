"""Contents of an XLA:GPU dump besides HLO and PTX: machine code, and the choices of products.

SASS is made from the dumped PTX by ptxas and nvdisasm, if these are installed (`pip install
nvidia-cuda-nvcc nvidia-cuda-nvdisasm`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from xla_explorer.backends.gpu.disassembly import sass_of
from xla_explorer.backends.xla.custom_kernels import custom_kernel
from xla_explorer.frontends.xla_dump import Tuned, plain_shape
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_TARGET: Final = re.compile(r"^\.target\s+(sm_\w+)", re.MULTILINE)
_SECTION: Final = re.compile(r'\s*\.section\s+"?\.text\.([\w.$]+)')
_ENTRY: Final = re.compile(r"\.entry\s")
_PICKED: Final = (
    "selected_algorithm", "algorithm", "algorithm_id", "split_k", "block_m", "block_n", "block_k", "num_warps", "num_stages", "num_ctas",
    "is_tma_allowed",
)  # fmt: skip
"""Keys of a backend's configuration that say how a kernel computes."""


def sass(paths: Iterable[Path], known: Mapping[str, int]) -> tuple[str, list[int | None]]:
    """Return the SASS of dumped PTX, and the instruction of each line.

    known: name of a kernel's function -> the id of its instruction.
    """
    lines: list[str] = []
    origins: list[int | None] = []
    for path in paths:
        ptx = path.read_text(errors="replace")
        target = _TARGET.search(ptx)
        if target is None or not _ENTRY.search(ptx):
            continue
        inside = None
        for line in sass_of(ptx, target[1])[0].rstrip("\n").split("\n"):
            if section := _SECTION.match(line):
                inside = known.get(section[1])
            lines.append(line)
            origins.append(inside)
    return "\n".join(lines) + "\n", [*origins, None]


def picks(module: HloModule, tuned: Sequence[Tuned] = ()) -> str:
    """Return a line per library call and Triton kernel, with XLA's choice and its measurements.

    tuned: the autotuner's choices; those of no instruction are at the end.
    """
    rows: list[tuple[str, str, str]] = []
    left = list(tuned)
    for i in module.instructions():
        row = _pick(i)
        measured = _measured(i, tuned) if tuned else []
        if row is not None:
            rows.append(row)
        rows += [(f"%{i.name}", "autotuned", one.summary) for one in measured]
        left = [one for one in left if one not in measured]
    rows += [(one.hlo.split("\n")[0][:40], "autotuned", one.summary) for one in left]
    widths = [max(len(row[k]) for row in rows) for k in (0, 1)] if rows else []
    return "".join(
        [f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {rest}\n" for name, kind, rest in rows]
    )


def _measured(i: HloInstruction, tuned: Sequence[Tuned]) -> list[Tuned]:
    """Return the autotuner's entries of an instruction.

    The autotuner's key has its shapes and opcodes, under other names.
    """
    if i.opcode.name not in ("fusion", "custom-call"):
        return []
    inside = list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]
    own = sorted([(plain_shape(str(one.shape)), one.opcode.name) for one in inside])
    target = custom_call_target(i)
    return [
        one
        for one in tuned
        if (
            one.shapes() == own
            if i.opcode.name == "fusion"
            else _is_call(one.hlo, own[0][0], target)
        )
    ]


def _is_call(hlo: str, shape: str, target: str) -> bool:
    """Return True if a key is a library call with this shape and target.

    Its form is `(f32[8]{0}, s8[4]{0}) custom-call(...), custom_call_target="..."`.
    """
    made, opens, rest = hlo.partition(" custom-call(")
    return (
        bool(opens)
        and plain_shape(made.rpartition(" = ")[2]) == shape
        and f'custom_call_target="{target}"' in rest
    )


def _pick(i: HloInstruction) -> tuple[str, str, str] | None:
    if i.opcode.name not in ("fusion", "custom-call"):
        return None
    if i.opcode.name == "custom-call" and (kernel := custom_kernel(i)) is not None:
        return f"%{i.name}", kernel.target, f"kernel {kernel.function}, {kernel.figures}"
    try:
        config = json.loads(i.attributes.get("backend_config", "") or "{}")
    except (ValueError, TypeError):
        return None
    if not isinstance(config, dict):
        return None
    inner = config.get("fusion_backend_config")
    kind = str(inner.get("kind", "")) if isinstance(inner, dict) else ""
    if i.opcode.name == "custom-call":
        kind = custom_call_target(i)
    if not kind.startswith("__"):
        return None
    return f"%{i.name}", kind, ", ".join(_figures(config)) or "nothing picked"


def _figures(config: dict[str, Any], depth: int = 4) -> Iterator[str]:
    for key, value in config.items():
        if key == "output_tiles" and isinstance(value, list):
            tiles = [one.get("sizes", []) for one in value if isinstance(one, dict)]
            yield f"tile {' and '.join(['x'.join(map(str, sizes)) for sizes in tiles])}"
        elif isinstance(value, dict) and depth:
            yield from _figures(value, depth - 1)
        elif key in _PICKED and isinstance(value, str | int | float):
            yield f"{key} {value}"
