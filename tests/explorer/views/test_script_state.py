"""Shared state of the views: listeners run once a change, in order; only actions set it."""

from __future__ import annotations

from tests.explorer.views.asset_script import AssetScript

STORY = """
() => {
  const told = [], { state, set, change, subscribe } = observable({ step: 0, selected: null, other: 0 });
  subscribe(["selected"], news => told.push(["a", state.selected, Object.keys(news)]));
  const end = subscribe(["selected", "step"], () => told.push(["b", state.step, state.selected]));
  subscribe(["step"], () => state.step === 2 && end());
  change({ selected: 9, step: 1 });
  change({ other: 1 });
  set({ selected: 8 });
  change({ step: 2 });
  change({ step: 3, selected: 4 });
  return told;
}
"""
APP = """
const store = { steps: [{ level: "hlo" }], decisions: [] },
  app = openApp({ root: {}, store, editor: {} }, { boxes: ["b"] });
"""
SETTING = """
field => {
  "use strict";
  try {
    app[field] = 7;
    return "set";
  } catch (error) {
    return error.name;
  }
}
"""


def test_a_listener_is_called_once_for_each_change() -> None:
    told = AssetScript().call(STORY)
    assert told == [
        ["a", 9, ["selected", "step"]],
        ["b", 1, 9],
        ["b", 2, 8],
        ["a", 4, ["step", "selected"]],
    ]


def test_a_view_cannot_set_a_field_an_action_or_a_service() -> None:
    script = AssetScript(APP)
    for member in ("selected", "step", "select", "isDrawn", "store", "unheard_of"):
        assert script.call(SETTING, member) == "TypeError", member
    assert script.call("() => [app.selected, app.boxes]") == [None, ["b"]]
    assert script.call("() => typeof app.change") == "undefined"


def test_an_action_changes_the_state_and_tells_its_subscribers() -> None:
    told = AssetScript(APP).call(
        """() => {
          const told = [];
          app.subscribe(["selected"], () => told.push([app.selected, app.origin]));
          app.select(5, "test");
          app.anchor(6);
          app.back();
          return [...told, app.selected];
        }"""
    )
    assert told == [[5, "test"], [None, "key"], None]


def test_a_service_does_nothing_until_its_view_offers_it() -> None:
    seen = AssetScript(APP).call(
        """() => {
          const before = app.isDrawn(3);
          app.setTab("text");
          app.provide({ isDrawn: id => id === 3, hasTab: key => key === "text" });
          const tab = app.tab;
          app.setTab("text");
          app.setTab("absent");
          return [before, tab, app.isDrawn(3), app.tab];
        }"""
    )
    assert seen == [False, "graph", True, "text"]
