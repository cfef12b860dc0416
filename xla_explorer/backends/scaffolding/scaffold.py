"""`xe.backends.scaffold(name, scenario)`: an installable package of a working backend."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from xla_explorer.backends.registry import backend_names
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import write_file

TEMPLATES = Path(__file__).with_name("templates")
SCENARIOS = {
    1: "Scenario 1: another CPU, by its LLVM triple; target facts as data.",
    2: (
        "Scenario 2: no CPU, but with an LLVM backend; kernels from xla_explorer, the device's "
        "own marks and stages."
    ),
    3: "Scenario 3: no LLVM; code, memory and queue of the device's own.",
}
_STAGE = {1: "assembly", 2: "assembly", 3: "device-code"}
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


class ScaffoldError(XlaExplorerError, ValueError):
    """The package cannot be written: the name, the scenario or the folder will not do."""


@dataclass(frozen=True)
class Scaffold:
    """A written package.

    folder: of the package. files: relative to it. lines: of the backend's Python, without tests.
    """

    name: str
    scenario: int
    folder: Path
    files: tuple[str, ...]
    lines: int

    def __repr__(self) -> str:
        listed = "\n".join([f"  {name}" for name in self.files])
        return (
            f"<Scaffold {self.name}, scenario {self.scenario}: {len(self.files)} files, {self.lines} lines of backend, in {self.folder}>\n"
            f"{listed}\ntest it:     cd {self.folder} && python -m pytest\ninstall it:  pip install -e {self.folder}"
        )


def scaffold(name: str, scenario: int, output: str | Path | None = None) -> Scaffold:
    """Write the package of a new backend.

    name: of the backend, lower case with hyphens. scenario: 1 (another CPU by its LLVM triple), 2
    (no CPU, with an LLVM backend), 3 (no LLVM). output: the folder, default `./xla_explorer_NAME`.
    ScaffoldError when a name is taken, or the folder holds something.
    """
    if scenario not in SCENARIOS:
        raise ScaffoldError(
            f"unknown scenario {scenario!r}",
            "; ".join([f"{k}: {v[12:]}" for k, v in SCENARIOS.items()]),
        )
    if not _NAME.fullmatch(name):
        raise ScaffoldError(
            f"{name!r} cannot be the name of a backend",
            "lower-case letters, digits and hyphens, such as my-chip",
        )
    if name in backend_names():
        raise ScaffoldError(
            f"the backend {name!r} exists already", f"known: {', '.join(backend_names())}"
        )
    package = f"xla_explorer_{name.replace('-', '_')}"
    folder = Path(output) if output is not None else Path(package)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} must be empty or new", "name an empty or new folder")
    words = {
        "NAME": name,
        "PACKAGE": package,
        "DISTRIBUTION": package.replace("_", "-"),
        "SCENARIO": SCENARIOS[scenario],
        "STAGE": _STAGE[scenario],
    }
    written = []
    for source, target in (
        (TEMPLATES / "common", folder),
        (TEMPLATES / f"scenario{scenario}", folder / package),
    ):
        for template in sorted(source.rglob("*.template")):
            path = target / template.relative_to(source).with_suffix("")
            text = template.read_text(encoding="utf-8")
            for word, value in words.items():
                text = text.replace(f"@{word}@", value)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text)
            written.append(path.relative_to(folder).as_posix())
    return Scaffold(name, scenario, folder, tuple(sorted(written)), code_lines(folder / package))


def code_lines(folder: Path) -> int:
    """Count the lines of Python under a folder that are neither blank nor only a comment."""
    lines = [
        line.strip()
        for path in folder.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return len([line for line in lines if line and not line.startswith("#")])
