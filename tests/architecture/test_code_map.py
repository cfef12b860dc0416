"""The map of the code: made of the packages' docstrings, short, and true."""

from __future__ import annotations

import re

from tests.architecture.code_map import (
    PICTURE,
    README,
    folders,
    package_docstring,
    picture,
    render,
    rooms,
    start,
    summary,
)
from tests.architecture.test_layers import LEVEL, PACKAGE

MOST_WORDS = 900


def test_the_map_is_what_the_docstrings_say() -> None:
    assert README.read_text(encoding="utf-8") == render(), (
        "renew it: python tests/architecture/code_map.py"
    )
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_the_map_is_short_and_has_every_room_and_folder() -> None:
    text = render()
    assert len(text.split()) < MOST_WORDS
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()} == set(
        LEVEL
    )
    for room in rooms():
        section = text.partition(f"## {room.name}/\n")[2].partition("\n## ")[0]
        assert [f"`{folder.name}/`" for folder in folders(room)] == re.findall(
            r"^\|(`\w+/`)\|", section, re.MULTILINE
        )


def test_every_package_has_a_summary_of_one_line_and_every_room_a_file_to_start_at() -> None:
    for room in rooms():
        assert (room / start(room)).is_file(), room.name
    for folder in [*rooms(), *(folder for room in rooms() for folder in folders(room))]:
        lines = package_docstring(folder).split("\n")
        assert (
            summary(folder).endswith(".")
            and len(summary(folder)) <= 90
            and (len(lines) == 1 or not lines[1])
        ), folder


def test_every_link_of_the_map_leads_to_a_file() -> None:
    for target in re.findall(r"\]\(([^)#]+)", render()):
        assert (README.parent / target).exists(), target
