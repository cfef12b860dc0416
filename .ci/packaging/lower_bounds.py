"""Prints constraints for `pip install -c` that hold each dependency of pyproject.toml at its lower bound: `lower_bounds.py EXTRA ...`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def lower_bounds(project: dict, extras: list[str]) -> list[str]:
    """Return one line `name==version` for each direct dependency, and for each of the extras, with the marker it has.

    Raises ValueError for a dependency without a lower bound, since nobody knows what its oldest version is.
    """
    optional = project["optional-dependencies"]
    texts = project["dependencies"] + [text for extra in extras for text in optional[extra]]
    lines = []
    for requirement in map(Requirement, texts):
        if requirement.name == project["name"]:
            continue  # an extra made of extras
        bounds = [
            part.version for part in requirement.specifier if part.operator in (">=", "==", "~=")
        ]
        if len(bounds) != 1:
            raise ValueError(
                f"the dependency {requirement} must have one lower bound: write {requirement.name}>=VERSION in pyproject.toml"
            )
        lines.append(
            f"{requirement.name}=={bounds[0]}"
            + (f" ; {requirement.marker}" if requirement.marker else "")
        )
    return lines


if __name__ == "__main__":
    print(
        "\n".join(
            lower_bounds(
                tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"], sys.argv[1:]
            )
        )
    )
