"""The front end's script in QuickJS: tests of its functions without a browser or node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xla_explorer.explorer.page.front_end import script

quickjs = pytest.importorskip(
    "quickjs",
    reason="quickjs-ng (extra `test`) is not installed: the script is NOT tested without a browser",
)


class AssetScript:
    """All modules of the assets in one context.

    Arguments and results travel as JSON; `code` may name things for later calls.
    """

    def __init__(self, code: str = "") -> None:
        self._context = quickjs.Context()
        self._context.eval(f'"use strict";\n{script()}\n{code}')

    def call(self, function: str, *arguments: Any) -> Any:
        """Return the result of a function of the script, or of an arrow function given as text."""
        given = ", ".join(json.dumps(argument) for argument in arguments)
        text = self._context.eval(f"JSON.stringify(({function})({given})) ?? 'null'")
        return json.loads(text)


SCENES = """
const memories = new Map();
const asOptions = ({ opened = [], closed = [], focus = null, budget = BUDGET, only = null }) =>
  ({ opened: new Set(opened), closed: new Set(closed), focus, budget, only: only && new Set(only) });
// memory: a name; scenes with the same name keep their places.
const sceneOf = (picture, options = {}, memory = null) => {
  if (memory !== null && !memories.has(memory)) memories.set(memory, new Map());
  const scene = buildScene(pictureOf(picture), asOptions(options), memory === null ? undefined : memories.get(memory));
  return { ...scene, opened: [...scene.opened] };
};
"""


class SceneScript(AssetScript):
    """The scene of the script, with the memory that stepping keeps."""

    def __init__(self) -> None:
        super().__init__(SCENES)

    def scene(self, picture: Any, memory: str | None = None, **options: Any) -> dict[str, Any]:
        """Return a placed scene as data. memory: a name; scenes of one name keep their places."""
        found: dict[str, Any] = self.call("sceneOf", picture.to_json(), options, memory)
        return found
