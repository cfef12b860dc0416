"""Shared state of the views: watchers of a field are called once, in order, until they end."""

from __future__ import annotations

from tests.explorer.views.asset_script import AssetScript

STORY = """
() => {
  const told = [], app = observable({ step: 0, selected: null });
  app.subscribe(["selected"], news => told.push(["a", app.selected, Object.keys(news)]));
  const end = app.subscribe(["selected", "step"], () => told.push(["b", app.step, app.selected]));
  app.subscribe(["step"], () => app.step === 2 && end());
  app.change({ selected: 9, step: 1 });
  app.change({ other: 1 });
  app.change({ step: 2 });
  app.change({ step: 3, selected: 4 });
  return told;
}
"""


def test_who_watches_is_told_once_for_each_change() -> None:
    told = AssetScript().call(STORY)
    assert told == [
        ["a", 9, ["selected", "step"]],
        ["b", 1, 9],
        ["b", 2, 9],
        ["a", 4, ["step", "selected"]],
    ]
