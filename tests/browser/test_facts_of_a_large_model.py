"""Each fact that a page shows of an instruction is the module's, on 8,000 instructions."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import xla_explorer as xe
from tests.browser.live_page import open_live, open_saved, settled
from tests.support.gpt import train_step, training_arguments
from xla_explorer.explorer.sessions.passes import pass_of_step
from xla_explorer.hlo.module import HloModule

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: no browser test runs"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.jax,
    pytest.mark.long,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on the path: the facts of a page are NOT tested"
    ),
]
LAYERS = 11
MOST_LINKS = 10
"""Operands or users that a line shows before it counts the rest."""


class Told(NamedTuple):
    """Contents of the column Why for an instruction.

    reads, users: names, and how many more there are.
    """

    name: str
    line: str
    reads: list[str]
    more_reads: int
    users: list[str]
    more_users: int
    history: list[str]


@pytest.fixture(scope="module")
def session() -> xe.Session:
    module = xe.from_jax(train_step, *training_arguments(LAYERS))
    assert module.instruction_count() > 7_000
    return xe.compile(module, threads=1)


@pytest.fixture(params=["saved", "live"])
def shown(
    request: pytest.FixtureRequest, browser: Any, session: xe.Session, tmp_path: Path
) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    if request.param == "saved":
        open_saved(page, session, tmp_path)
    else:
        open_live(page, xe.explore(session), tmp_path)
    settled(page)
    yield page
    page.close()


_TOLD = """async ids => {
  const app = document.querySelector(".xe").explorer, found = [];
  const links = (body, label) => {
    const line = [...body.querySelectorAll(":scope > p")].find(p => p.querySelector(":scope > .xe-dim")?.textContent === label + " ");
    if (!line) return [[], 0];
    const more = / and (\\d+) more$/.exec(line.textContent);
    return [[...line.querySelectorAll("button")].map(b => b.textContent.slice(1)), more ? Number(more[1]) : 0];
  };
  for (const id of ids) {
    app.select(id, "test");
    await app.store.history(id);
    await new Promise(done => setTimeout(done));
    const body = document.querySelector(".xe-why-body");
    found.push([
      body.querySelector("p b").textContent.slice(1), body.querySelector("pre.xe-hlo")?.textContent ?? "",
      ...links(body, "reads"), ...links(body, "read by"), [...body.querySelectorAll(".xe-history li")].map(li => li.textContent),
    ]);
  }
  return found;
}"""


def _told(page: Any, ids: list[int]) -> list[Told]:
    return [Told(*row) for row in page.evaluate(_TOLD, ids)]


def _sample(ids: list[int], count: int) -> list[int]:
    return ids[:: max(1, len(ids) // count)]


def test_operands_users_and_lines_are_those_of_the_module_at_each_step(
    shown: Any, session: xe.Session
) -> None:
    changed = [step.number for step in session.passes if step.changed]
    for number in (changed[len(changed) // 2], changed[-1]):
        module = HloModule.from_snapshot(pass_of_step(session.passes, number).snapshot)
        shown.evaluate("k => document.querySelector('.xe').explorer.go(k)", number)
        settled(shown)
        shown.wait_for_function(
            "() => !document.querySelector('.xe').explorer.now.lacksText", timeout=60_000
        )
        kernels = [
            i.id
            for i in module.entry.instructions.values()
            if i.opcode.name in ("fusion", "dot", "scatter", "reduce")
        ]
        ids = sorted({*_sample([i.id for i in module.instructions()], 40), *_sample(kernels, 25)})
        for key, told in zip(ids, _told(shown, ids), strict=True):
            i = module.find(key)
            operands, users = (
                list(dict.fromkeys(o.name for o in i.operands)),
                {u.name for u in i.users},
            )
            assert told.name == i.name, f"step {number}"
            assert re.search(
                rf"(^|ROOT )%{re.escape(i.name)} = \S.* {i.opcode.name}\(", told.line
            ), f"step {number}: {told.line}"
            assert (told.reads, told.more_reads) == (
                operands[:MOST_LINKS],
                max(0, len(operands) - MOST_LINKS),
            ), f"step {number}: %{i.name}"
            assert set(told.users) <= users and len(told.users) + told.more_users == len(users), (
                f"step {number}: %{i.name}"
            )
        module.dispose()


def test_the_history_of_what_takes_the_time_is_in_the_page(shown: Any, session: xe.Session) -> None:
    rows = sorted(
        session._explorer_source_().view().rows(), key=lambda row: -(row.predicted_us or 0)
    )
    ids = [row.instruction for row in rows[:100] if row.instruction is not None]
    for key, told in zip(ids, _told(shown, ids), strict=True):
        history = [str(sentence) for sentence in session.passes.lineage.sentences(key)]
        assert told.history == history, f"%{told.name}"


def test_the_code_of_what_takes_the_time_is_in_the_page(
    browser: Any, session: xe.Session, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_saved(page, session, tmp_path)
    settled(page)
    rows = sorted(
        session._explorer_source_().view().rows(), key=lambda row: -(row.predicted_us or 0)
    )
    compiled = {
        step.instruction: step.function for step in session.executable.steps if step.function
    }
    ids = [row.instruction for row in rows if row.instruction in compiled][:25]
    lit = page.evaluate(
        """async ids => {
          const app = document.querySelector(".xe").explorer, panes = await app.store.panes(), found = [];
          for (const name of ["llvm-ir-optimized", "assembly"]) {
            const lines = panes.find(pane => pane.name === name).lines, present = new Set(lines.flatMap(line => line[1] ?? []));
            for (const id of ids) found.push([name, id, lines.length, app.store.counterparts(id, present, app.now.picture.aliases).size]);
          }
          return found;
        }""",
        ids,
    )
    assert all(count < 6_000 for _, _, count, _ in lit)
    # Equal kernels are one function, whose lines may be of one of them only.
    found = {(name, compiled[key]) for name, key, _, lines in lit if lines}
    assert {(name, compiled[key]) for name, key, _, _ in lit} == found, (
        "a hot kernel has no line of code"
    )
    page.close()
