"""The index of a dump folder, from file names only.

XLA names files `module_0007.jit_f.0012.simplification.after_algsimp.before_dce.txt`. The pieces are
the module's number and name, a running number, the pipeline, the pass that changed the module, and
the next one. XLA writes such a file only if a pass changed the module. Sources: xla/service/dump.cc
(names), xla/service/hlo_pass_pipeline.cc (when).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.frontends.xla_dump.main_program import main_program

# A time stamp may precede; `.gz` and a missing pass part (copy insertion writes without `before`)
# are accepted too.
_NAME = re.compile(r"(?:(?P<time>\d{10,})\.)?module_(?P<number>\d+)\.(?P<name>.+)\Z")
_PASS = re.compile(
    r"(?P<number>\d{4,})\.(?P<pipeline>.+?)\.after_(?P<name>.+?)(?:\.before_(?P<next>.+?))?\.(?:txt|hlo|hlo\.pb)(?:\.gz)?\Z"
)
_PLAIN = {"before_optimizations": "before", "after_optimizations": "after"}
_LLVM = re.compile(r"(?:(?P<kernel>.+)\.)?ir-(?P<when>no|with)-opt\.ll\Z")


_KIND = re.compile(
    r"(?P<name>.+?)\.(?P<kind>\d{4,}\..*\.after_.*|(?:\w+_)?(?:before|after)_optimizations.*|(?:.+\.)?ir-(?:no|with)-opt\.ll"
    r"|obj-file\..*|debug_options|ptx|.*\.ptx|.*\.cubin)\Z"
)


class DumpError(XlaExplorerError, LookupError):
    """A folder that holds no dump, or a module that is not in it."""


class DumpedPass(NamedTuple):
    """One file of one pass.

    number: its place among them. name: the pass that had just run (`pipeline-start` before the
    first). next: the one after it.
    """

    number: int
    pipeline: str
    name: str
    next: str
    path: Path


class DumpedModule:
    """The files of one module.

    name: without number (`jit_f`). before, after: HLO before and after all passes, if dumped.
    passes: in order. llvm: (kernel, `no` or `with` optimisation) -> file. ptx: of a GPU's kernels.
    reports: other texts by kind (`buffer-assignment`, `memory-usage-report` ...). autotuning:
    choices of XLA:GPU's autotuner.
    """

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.before: Path | None = None
        self.after: Path | None = None
        self.passes: list[DumpedPass] = []
        self.llvm: dict[tuple[str, str], Path] = {}
        self.ptx: list[Path] = []
        self.reports: dict[str, Path] = {}
        self.autotuning: Path | None = None

    @property
    def hlo_files(self) -> int:
        """Number of HLO texts."""
        return len(self.passes) + (self.before is not None) + (self.after is not None)

    def __repr__(self) -> str:
        return (
            f"<DumpedModule {self.number} {self.name}: {self.hlo_files} HLO files, "
            f"{len(self.llvm)} LLVM files>"
        )


class DumpFolder:
    """`modules` by number.

    A name is looked up by `module(name)`; the same name may occur several times (one per compile).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.modules: dict[int, DumpedModule] = {}
        try:
            names = sorted(os.listdir(self.path))
        except OSError as problem:
            raise DumpError(f"cannot read the folder {self.path}: {problem.strerror}") from None
        files: dict[int, list[tuple[str, Path]]] = {}
        for name in names:
            found = _NAME.match(name)
            if found:
                files.setdefault(int(found["number"]), []).append((found["name"], self.path / name))
        for number, found_files in files.items():
            self._add(number, found_files)
        self.modules = {k: m for k, m in self.modules.items() if m.hlo_files}
        if not self.modules:
            raise DumpError(
                f"{self.path} holds no XLA dump (no files named module_NNNN.NAME...)",
                "dump with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_as_text "
                "--xla_dump_hlo_pass_re=.*'",
            )
        for module in self.modules.values():
            module.passes.sort()

    def _add(self, number: int, files: list[tuple[str, Path]]) -> None:
        """Add the files of one module, given by the names after its number."""
        # A module's name may contain dots, and LLVM files have the kernel's name after it. HLO
        # files show where it ends.
        names = [
            name
            for name, kind in (_split(rest) for rest, _ in files)
            if kind is not None and _LLVM.match(kind) is None
        ]
        names = names or [_split(rest)[0] for rest, _ in files]
        module = self.modules[number] = DumpedModule(number, min(names, key=len))
        for rest, path in files:
            if rest.startswith(f"{module.name}."):
                self._file(module, rest[len(module.name) + 1 :], path)

    @staticmethod
    def _file(module: DumpedModule, kind: str, path: Path) -> None:
        found = _PASS.match(kind)
        if found:
            dumped = DumpedPass(
                int(found["number"]), found["pipeline"], found["name"], found["next"] or "", path
            )
            # A proto and a text of one module are adjacent in the order of names; the text is
            # preferred.
            if module.passes and module.passes[-1][:4] == dumped[:4]:
                module.passes.pop()
            module.passes.append(dumped)
            return
        found = _LLVM.match(kind)
        if found:
            module.llvm[found["kernel"] or "", found["when"]] = path
            return
        if kind == "ptx" or kind.endswith(".ptx"):
            module.ptx.append(path)
            return
        stem = re.sub(r"\.(?:txt|hlo|hlo\.pb)(?:\.gz)?\Z", "", kind)
        for ending, attribute in _PLAIN.items():
            if stem.endswith(ending):
                setattr(module, attribute, path)
                return
        if kind.startswith("autotune_results."):
            module.autotuning = path
            return
        if kind == "gpu_target_config.pbtxt":
            module.reports["gpu_target_config"] = path
        if kind.endswith(".txt"):
            module.reports[re.sub(r"^.*after_optimizations-", "", stem)] = path

    def module(self, name: str | int | None = None) -> DumpedModule:
        """Return a module by number or name; None: the main program.

        Of several modules with a name the last is returned. `jit_` may be left out.
        """
        if isinstance(name, int) and name in self.modules:
            return self.modules[name]
        candidates = [
            m for m in self.modules.values() if name is None or m.name in (name, f"jit_{name}")
        ]
        if not candidates:
            names = sorted({m.name for m in self.modules.values()})
            near = nearest(str(name), names, 3)
            hint = (
                f"did you mean {', '.join(near)}?" if near else f"it holds {', '.join(names[:8])}"
            )
            raise DumpError(f"{self.path} holds no module {name!r}", hint)
        if name is not None:
            return candidates[-1]
        return self.main[0]

    @cached_property
    def main(self) -> tuple[DumpedModule, str]:
        """The main program, not a helper of a framework, and the criterion of the choice."""
        modules = list(self.modules.values())
        found = main_program([_first(m) for m in modules], [m.name for m in modules])
        return modules[found.number], found.why

    def __iter__(self) -> Iterator[DumpedModule]:
        return iter(self.modules.values())

    def __len__(self) -> int:
        return len(self.modules)

    def __repr__(self) -> str:
        return f"<DumpFolder {self.path.name}: {len(self)} modules>"


def _first(module: DumpedModule) -> Path | None:
    return module.before or (module.passes[0].path if module.passes else module.after)


def _split(rest: str) -> tuple[str, str | None]:
    """Split `jit_f.0001.pipeline...txt` into the module's name and the rest."""
    found = _KIND.match(rest)
    return (found["name"], found["kind"]) if found else (rest, None)
