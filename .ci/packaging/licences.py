"""Checks the licence of every component of a CycloneDX SBOM, and that a wheel holds its own: `licences.py SBOM.json WHEEL`.

Prints how many components there are of each licence. Exits with 1 and a line a component whose licence is missing or not in `ALLOWED`.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

from license_expression import ExpressionError, get_spdx_licensing

# Licences that let anybody use, change and pass on what depends on them. MPL-2.0 asks for the source of its own files only; the GPL parts
# of OpenBLAS's wheel are GCC's run-time libraries, whose exception covers programs linked with them.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Open-MPI", "CC0-1.0",
    "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
    "GPL-2.0-or-later WITH GCC-exception-2.0", "GPL-3.0-or-later WITH GCC-exception-3.1",
}  # fmt: skip

# What packages write that SPDX does not know.
NAMED = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD-3-Clause License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

# What the metadata of these say in a free text that the SBOM leaves out; read when the package was added here.
READ = {"asttokens": "Apache-2.0", "bleach": "Apache-2.0", "overrides": "Apache-2.0"}


def texts_of(component: dict) -> list[str]:
    """Return what the component says about its licence: an SPDX expression, or identifiers and names."""
    entries = component.get("licenses", [])
    expressions = [entry["expression"] for entry in entries if "expression" in entry]
    named = [
        entry["license"].get("id") or entry["license"].get("name", "")
        for entry in entries
        if "license" in entry
    ]
    if not entries and component["name"] in READ:
        return [READ[component["name"]]]
    return expressions or [
        NAMED.get(text.removeprefix("License :: OSI Approved :: "), text) for text in named if text
    ]


def allowed(text: str) -> bool:
    """Return whether an SPDX expression can be met by licences of `ALLOWED` alone: every part of an AND, one part of an OR."""
    try:
        expression = get_spdx_licensing().parse(text, validate=True)
    except ExpressionError:
        return False
    return expression is not None and _met(expression)


def _met(expression: object) -> bool:
    parts = getattr(expression, "args", ())
    kind = type(expression).__name__
    if parts and kind in ("AND", "OR"):
        return (all if kind == "AND" else any)(_met(part) for part in parts)
    return str(expression) in ALLOWED


def problems_of(components: list[dict]) -> list[str]:
    """Return a line for each component without a licence, or with none that is allowed. A component may name a licence in several ways."""
    found = []
    for component in components:
        texts = texts_of(component)
        if not texts:
            found.append(
                f"{component['name']} {component.get('version', '')} must name a licence; it names none"
            )
        elif not any(allowed(text) for text in texts):
            found.append(
                f"{component['name']} {component.get('version', '')} must have a licence of ALLOWED in {__file__}, got {texts}"
            )
    return found


def wheel_problems(wheel: Path) -> list[str]:
    """Return what the wheel lacks: its licence, and files without another owner's notice of copyright."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        found = (
            []
            if any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
            else [f"{wheel.name} must hold LICENSE"]
        )
        for name in names:
            head = archive.read(name)[:4000]
            if not name.endswith("LICENSE") and (
                b"SPDX-License-Identifier" in head or b"Copyright (c)" in head
            ):
                found.append(
                    f"{wheel.name}: {name} has a notice of copyright: add its licence to LICENSE, or leave it out"
                )
    return found


def main(sbom: Path, wheel: Path) -> int:
    """Check both, print the counts, return the exit code."""
    components = json.loads(sbom.read_text(encoding="utf-8")).get("components", [])
    found = problems_of(components) + wheel_problems(wheel)
    counts = Counter(" | ".join(texts_of(component)) or "none" for component in components)
    print(
        f"{len(components)} components: "
        + ", ".join(f"{count} {text}" for text, count in counts.most_common())
    )
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
