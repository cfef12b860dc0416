"""The user's description of this machine: the environment variable XLA_EXPLORER_TARGET.

By default programs are compiled for this machine's CPU and cores. The variable overrides both, in
parts between commas:

- `native` (this CPU, as without the variable), `x86-64`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`,
  `generic`, or a CPU as LLVM spells it (`skylake-avx512`). Code that this CPU cannot execute is
  compiled, verified and shown; running it is refused.
- `prefer-128`, `prefer-256`, `prefer-512`: vectors of at most so many bits, also if the registers
  are wider.
- `cores=N`: the number of threads of programs and of LLVM's compilation.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Final

from xla_explorer.foundation.diagnostic import XlaExplorerError

TARGET_VARIABLE: Final = "XLA_EXPLORER_TARGET"
_WIDTHS: Final = (128, 256, 512)
_MOST_CORES: Final = 1024


class TargetRequestError(XlaExplorerError, ValueError):
    """XLA_EXPLORER_TARGET does not parse."""


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """The parsed value of XLA_EXPLORER_TARGET.

    cpu: empty for this machine's. vector_bits: the widest vectors, 0 for those of the CPU. cores: 0
    for those that this process may use.
    """

    cpu: str = ""
    vector_bits: int = 0
    cores: int = 0


@functools.lru_cache(maxsize=8)
def parse_target_request(text: str) -> TargetRequest:
    """Parse the value of the variable.

    Each part may occur once; blanks around it are ignored. Raises TargetRequestError.

    >>> parse_target_request("x86-64-v4,prefer-256,cores=1")
    TargetRequest(cpu='x86-64-v4', vector_bits=256, cores=1)
    """
    found: dict[str, str | int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, value = _read(part)
        if name in found:
            raise _error(f"{part!r} repeats an earlier part")
        found[name] = value
    return TargetRequest(
        str(found.get("cpu", "")), int(found.get("vector_bits", 0)), int(found.get("cores", 0))
    )


def _read(part: str) -> tuple[str, str | int]:
    """Return the field that a part sets, and its value."""
    if part.startswith("prefer-"):
        bits = part.removeprefix("prefer-")
        if bits not in map(str, _WIDTHS):
            raise _error(
                f"prefer-BITS must be one of {', '.join(map(str, _WIDTHS))} bits, got {part!r}"
            )
        return "vector_bits", int(bits)
    if part.startswith("cores="):
        number = part.removeprefix("cores=")
        if not number.isdecimal() or not 1 <= int(number) <= _MOST_CORES:
            raise _error(f"cores must be an integer from 1 to {_MOST_CORES}, got {part!r}")
        return "cores", int(number)
    if (
        "=" in part
        or not part.isascii()
        or not part.replace("-", "").replace("_", "").replace(".", "").isalnum()
    ):
        raise _error(f"{part!r} must be a CPU, prefer-BITS or cores=N")
    return "cpu", "" if part == "native" else part


def _error(message: str) -> TargetRequestError:
    return TargetRequestError(
        f"{TARGET_VARIABLE}: {message}",
        "for example x86-64-v3, or x86-64-v4,prefer-256, or native,cores=1",
    )


def target_request() -> TargetRequest:
    """Return the request in the environment of this process. Raises TargetRequestError."""
    return parse_target_request(os.environ.get(TARGET_VARIABLE, ""))
