"""The samples of planted mistakes: each key fits its scripts."""

from __future__ import annotations

import ast
import json

import pytest

from tests.performance.mistakes.planted import KINDS
from tests.performance.mistakes.scripts import SAMPLES, Script

KEYS = [
    (folder.name, key)
    for folder in sorted(one.parent for one in SAMPLES.glob("*/key.json"))
    for key in json.loads((folder / "key.json").read_text())
]


@pytest.mark.parametrize(
    ("folder", "key"), KEYS, ids=[f"{folder}-{key['program']}" for folder, key in KEYS]
)
def test_each_mend_fits_its_script(folder: str, key: dict) -> None:  # type: ignore[type-arg]
    script = Script(SAMPLES / folder / f"{key['program']}.py", key)
    lines = script.source.splitlines()
    kinds = {mistake["kind"] for mistake in key["mistakes"]}
    assert len(kinds) == 3 and kinds <= KINDS.keys()
    for mistake in key["mistakes"]:
        assert "argument" in mistake or lines[mistake["line"] - 1].strip() == mistake["source"]
        assert mistake["gain"][mistake["gain"]["in"]] > 0
        ast.parse(script.mended(frozenset([mistake["kind"]])))
