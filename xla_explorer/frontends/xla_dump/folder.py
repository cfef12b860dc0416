"""The index of a dump folder: file names only, nothing is read.

XLA names files `module_0007.jit_f.0012.simplification.after_algsimp.before_dce.txt`; the pieces are the module's number and name, a running
number, the pipeline, the pass that changed the module, and the next one. It writes such a file only where a pass changed the module.
Sources: xla/service/dump.cc (names), xla/service/hlo_pass_pipeline.cc (when).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError

# A time stamp may stand in front; `.gz` and a missing pass part (copy insertion writes without `before`) are seen too.
_NAME = re.compile(r"(?:(?P<time>\d{10,})\.)?module_(?P<number>\d+)\.(?P<name>.+)$")
_PASS = re.compile(r"(?P<number>\d{4,})\.(?P<pipeline>.+?)\.after_(?P<name>.+?)(?:\.before_(?P<next>.+?))?\.(?:txt|hlo)(?:\.gz)?$")
_PLAIN = {"before_optimizations": "before", "after_optimizations": "after"}
_LLVM = re.compile(r"(?:(?P<kernel>.+)\.)?ir-(?P<when>no|with)-opt\.ll$")


_KIND = re.compile(
    r"(?P<name>.+?)\.(?P<kind>\d{4,}\..*\.after_.*|(?:\w+_)?(?:before|after)_optimizations.*|(?:.+\.)?ir-(?:no|with)-opt\.ll"
    r"|obj-file\..*|debug_options|ptx|.*\.ptx|.*\.cubin)$"
)


class DumpError(XlaExplorerError, LookupError):
    """A folder that holds no dump, or a module that is not in it."""


class DumpedPass(NamedTuple):
    """One file of one pass. number: its place among them. name: the pass that had just run (`pipeline-start` before the first).
    next: the one after it."""

    number: int
    pipeline: str
    name: str
    next: str
    path: Path


class DumpedModule:
    """The files of one module.

    name: without number (`jit_f`). before, after: HLO before and after all passes, where dumped. passes: in order. llvm: (kernel, `no` or
    `with` optimisation) -> file. reports: other texts by what their name says (`buffer-assignment`, `memory-usage-report` ...).
    """

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.before: Path | None = None
        self.after: Path | None = None
        self.passes: list[DumpedPass] = []
        self.llvm: dict[tuple[str, str], Path] = {}
        self.reports: dict[str, Path] = {}

    @property
    def hlo_files(self) -> int:
        """How many HLO texts there are."""
        return len(self.passes) + (self.before is not None) + (self.after is not None)

    def __repr__(self) -> str:
        return f"<DumpedModule {self.number} {self.name}: {self.hlo_files} HLO files, {len(self.llvm)} LLVM files>"


class DumpFolder:
    """`modules` by number. A name is looked up by `module(name)`; the same name may occur several times (one per compile)."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.modules: dict[int, DumpedModule] = {}
        try:
            names = sorted(os.listdir(self.path))
        except OSError as problem:
            raise DumpError(f"cannot read the folder {self.path}: {problem.strerror}") from None
        for name in names:
            found = _NAME.match(name)
            if found:
                self._add(int(found["number"]), found["name"], self.path / name)
        self.modules = {k: m for k, m in self.modules.items() if m.hlo_files}
        if not self.modules:
            raise DumpError(f"{self.path} holds no XLA dump (no files named module_NNNN.NAME...)",
                            "dump with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*'")
        for module in self.modules.values():
            module.passes.sort()

    def _add(self, number: int, rest: str, path: Path) -> None:
        module = self.modules.get(number)
        if module is None:
            module = self.modules[number] = DumpedModule(number, rest)
            # The shortest name of the module's files without its known endings is the module's: names may hold dots themselves.
        name, kind = _split(rest)
        if len(name) < len(module.name):
            module.name = name
        if kind is None:
            return
        found = _PASS.match(kind)
        if found:
            module.passes.append(DumpedPass(int(found["number"]), found["pipeline"], found["name"], found["next"] or "", path))
            return
        found = _LLVM.match(kind)
        if found:
            module.llvm[found["kernel"] or "", found["when"]] = path
            return
        stem = re.sub(r"\.(?:txt|hlo)(?:\.gz)?$", "", kind)
        for ending, attribute in _PLAIN.items():
            if stem.endswith(ending):
                setattr(module, attribute, path)
                return
        if kind.endswith(".txt"):
            module.reports[re.sub(r"^.*after_optimizations-", "", stem)] = path

    def module(self, name: str | int | None = None) -> DumpedModule:
        """A module by number or name (the last of that name, the one with `jit_` left out too); None: the one with the most files."""
        if isinstance(name, int) and name in self.modules:
            return self.modules[name]
        candidates = [m for m in self.modules.values() if name is None or m.name in (name, f"jit_{name}")]
        if not candidates:
            import difflib

            names = sorted({m.name for m in self.modules.values()})
            near = difflib.get_close_matches(str(name), names, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"it holds {', '.join(names[:8])}"
            raise DumpError(f"{self.path} holds no module {name!r}", hint)
        if name is not None:
            return candidates[-1]
        # By size of the first text: the program, not the helpers that a framework compiles on the way.
        return max(candidates, key=lambda m: (_size(m), m.hlo_files))

    def __iter__(self) -> Iterator[DumpedModule]:
        return iter(self.modules.values())

    def __len__(self) -> int:
        return len(self.modules)

    def __repr__(self) -> str:
        return f"<DumpFolder {self.path.name}: {len(self)} modules>"


def _size(module: DumpedModule) -> int:
    path = module.before or (module.passes[0].path if module.passes else module.after)
    return path.stat().st_size if path is not None else 0


def _split(rest: str) -> tuple[str, str | None]:
    """`jit_f.0001.pipeline...txt` into the module's name and the rest."""
    found = _KIND.match(rest)
    return (found["name"], found["kind"]) if found else (rest, None)
