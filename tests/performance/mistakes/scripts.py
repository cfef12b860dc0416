"""Scripts with planted mistakes: a folder of programs with a key of mistakes and mends.

For each mistake the key has its kind, its line or argument, and the replacements that mend it. The
gain in it was measured before any question was put. A script defines the jitted function that the
key names, `arguments()`, and `calls()` if it is compiled again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from tests.performance.mistakes.planted import Mistake, Planted, Program

SAMPLES: Final = Path(__file__).resolve().parents[2] / "data" / "mistakes"


def numbers_of(option: str, source: str) -> tuple[int, ...]:
    """Return the positions that a script gives to an option of `jax.jit`."""
    found = re.search(rf"{option}=\(([\d, ]*)\)", source)
    return tuple([int(one) for one in found[1].split(",") if one.strip()]) if found else ()


def _known_gain(mistake: dict[str, Any]) -> float | None:
    """Return the gain of the key; None for compiles, whose promise is in time on the clock."""
    gain = mistake.get("gain", {"in": "seconds"})
    return None if gain["in"] == "seconds" else float(gain[gain["in"]])


class Script:
    """A script of a sample; it builds the program with some kinds of mistakes mended."""

    def __init__(self, path: Path, key: dict[str, Any]) -> None:
        self.path, self.key = path, key
        self.source = path.read_text()

    def mended(self, kinds: frozenset[str]) -> str:
        """Return the source without the mistakes of some kinds."""
        source = self.source
        for mistake in self.key["mistakes"]:
            if mistake["kind"] in kinds:
                for old, new in mistake["replace"]:
                    assert source.count(old) == 1, (self.path.name, old)
                    source = source.replace(old, new)
        return source

    def __call__(self, kinds: frozenset[str]) -> Program:
        """Run the script with its mistakes of some kinds mended."""
        source = self.mended(kinds)
        names: dict[str, Any] = {"__name__": self.path.stem, "__file__": str(self.path)}
        exec(compile(source, str(self.path), "exec"), names)
        calls = tuple(names["calls"]()) if "calls" in names else ()
        options = [numbers_of(f"{one}_argnums", source) for one in ("static", "donate")]
        return Program(names[self.key["function"]], names["arguments"](), calls, *options)


def sample(name: str) -> dict[str, Planted]:
    """Return the programs of a folder of scripts."""
    folder = SAMPLES / name
    programs = {}
    for key in json.loads((folder / "key.json").read_text()):
        script = Script(folder / f"{key['program']}.py", key)
        first, second, third = [
            Mistake(
                m["kind"],
                m.get("source", f"argument {m.get('argument')}"),
                m.get("line", 0),
                _known_gain(m),
            )
            for m in key["mistakes"]
        ]
        is_wide = "jax_enable_x64" in script.source
        programs[key["program"]] = Planted(script, (first, second, third), is_wide)
    return programs
