"""The folders of the front end's script: what may import what, and the order of joining."""

from __future__ import annotations

import posixpath
import re

from xla_explorer.explorer.page.front_end import (
    ASSETS,
    EXPLORER,
    PAGE,
    WORKER,
    imports,
    joined_order,
    modules,
)
from xla_explorer.explorer.page.tabs import TABS

# A folder may import those before it; assets/README.md says what each contains.
FOLDERS = (
    "core", "worker", "graph", "code", "tables", "timeline", "why", "loops", "frame",
)  # fmt: skip
ALL = sorted(file.relative_to(ASSETS).with_suffix("").as_posix() for file in ASSETS.rglob("*.js"))


def test_a_folder_imports_only_folders_below_it() -> None:
    upwards = [
        (module, needed)
        for module in ALL
        for needed in imports(module)
        if FOLDERS.index(posixpath.dirname(needed)) > FOLDERS.index(posixpath.dirname(module))
    ]
    assert upwards == []


def test_the_folders_are_named_in_the_readme_and_small() -> None:
    readme = (ASSETS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `(\w+)/`", readme, re.MULTILINE) == list(FOLDERS)
    assert {posixpath.dirname(module) for module in ALL} == set(FOLDERS)
    for folder in FOLDERS:
        assert len(list((ASSETS / folder).iterdir())) <= 25, folder


def test_each_module_is_joined_after_its_imports() -> None:
    for entries in ([*[tab.module for tab in TABS], EXPLORER, PAGE], [WORKER]):
        order = joined_order(entries)
        for at, module in enumerate(order):
            late = [needed for needed in imports(module) if order.index(needed) > at]
            assert late == [], f"{module} and {late} import each other"


def test_every_file_is_joined_and_no_file_imports_a_tab() -> None:
    assert sorted({*modules(), PAGE, *joined_order([WORKER])}) == ALL
    tabs = {tab.module for tab in TABS}
    assert [module for module in ALL if tabs & set(imports(module))] == []
    assert [module for module in modules() if module in tabs] == [tab.module for tab in TABS]


def test_imports_are_read_completely_and_rename_nothing() -> None:
    """An import that the joining does not read, or that renames, would be lost in the join."""
    for module in ALL:
        lines = [
            line
            for line in (ASSETS / f"{module}.js").read_text(encoding="utf-8").splitlines()
            if line.startswith("import ")
        ]
        assert len(lines) == len(imports(module)), module
        assert not any(" as " in line for line in lines), module
