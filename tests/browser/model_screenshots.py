"""Screenshots of models: `python -m tests.browser.model_screenshots FOLDER [NUMBER ...]`.

Twelve real models in two themes and two widths.

The programs are those of the folder `shared` beside a clone (XLA_EXPLORER_CORPORA): GPT-2,
ResNet-50, a UNet, LLaMA and others as JAX and PyTorch wrote them, a folder that XLA dumped, the
program of one device of eight. The test beside it takes them nightly and counts what no picture may
have: an empty canvas, an error, a row that is wider than its panel.
"""

from __future__ import annotations

import gzip
import json
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import xla_explorer as xe
from tests.browser.screenshots import press, run
from tests.support.corpora import SHARED

WORKLOADS = SHARED / "perf" / "dev" / "workloads"


def _world(name: str) -> Callable[[Path], Any]:
    return lambda folder: SHARED / "worlds" / name


def _workload(name: str) -> Callable[[Path], Any]:
    return lambda folder: WORKLOADS / name


def _dump(folder: Path) -> Any:
    with tarfile.open(SHARED / "worlds" / "dump_torch_xla_cnn_train_all_passes.tar.gz") as archive:
        archive.extractall(folder / "dump", filter="data")
    text = max(
        (folder / "dump").rglob("*before_optimizations.txt"), key=lambda path: path.stat().st_size
    )
    return text.parent


def _shard(name: str) -> Callable[[Path], Any]:
    def text(folder: Path) -> str:
        with gzip.open(
            SHARED / "spmd" / "programs" / f"{name}.shardy.json.gz", "rt", encoding="utf-8"
        ) as file:
            return str(json.load(file)["hlo_after_spmd"])

    return text


class Program(NamedTuple):
    """given: what gives the module, from a folder to work in.

    measured: profiled with so many runs.
    """

    given: Callable[[Path], Any]
    measured: int = 0


PROGRAMS = {
    "gpt2_small": Program(_world("jax_flax_gpt2_small_12.stablehlo.mlir.gz")),
    "resnet50_training": Program(_world("jax_flax_resnet50_train.stablehlo.mlir.gz")),
    "unet": Program(_world("jax_equinox_unet.stablehlo.mlir.gz"), measured=3),
    "tf48": Program(_workload("c_tf48_unrolled_d64.hlo.gz")),
    "dag_10000": Program(_workload("c_dag_10000.hlo.gz")),
    "dump": Program(_dump),
    "one_of_eight": Program(_shard("fsdp_mlp_train")),
    "llama": Program(_world("jax_llama_decode_loop_bf16.stablehlo.mlir.gz")),
    "vit": Program(_world("jax_haiku_vit.stablehlo.mlir.gz")),
}
VIEWS = [(width, theme) for width in (1400, 900) for theme in ("light", "dark")]


class Shot(NamedTuple):
    """program: of PROGRAMS. act: what is pressed."""

    program: str
    act: Callable[[Any], object]


_HOTTEST = """() => { const a = document.querySelector('.xe').explorer, best = Object.entries(a.store.data.columns[0][2]).sort((x, y) => y[1] - x[1])[0];
  a.select(+best[0], 'search'); }"""
_COLOUR = (
    "() => { const s = document.querySelector('.xe-graph select'); s.value = 0; s.onchange(); }"
)

SHOTS: dict[str, Shot] = {
    "01_gpt2_small_overview": Shot("gpt2_small", press("o")),
    "02_gpt2_small_graph": Shot("gpt2_small", press("g", "v")),
    "03_resnet50_training_overview": Shot("resnet50_training", press("o")),
    "04_resnet50_training_graph": Shot("resnet50_training", press("g", "v")),
    "05_unet_by_time": Shot("unet", lambda page: (press("g", "v")(page), run(_COLOUR)(page))),
    "06_tf48_passes": Shot("tf48", press("a", "v")),
    "07_tf48_graph": Shot("tf48", press("g", "v")),
    "08_dag_10000_graph": Shot("dag_10000", press("g", "v")),
    "09_dump_of_xla": Shot("dump", press("o")),
    "10_one_device_of_eight": Shot("one_of_eight", press("g", "v")),
    "11_llama_side_by_side": Shot("llama", press("s", "v")),
    "12_vit_hottest_kernel": Shot("vit", lambda page: (press("o")(page), run(_HOTTEST)(page))),
}


def page_of(program: Program, folder: Path) -> Path:
    """Return the exported page of a program."""
    given = program.given(folder)
    if isinstance(given, Path) and given.is_dir():
        session = xe.load(given).session()
    else:
        session = xe.compile(xe.load(given) if isinstance(given, Path) else given, threads=1)
    if program.measured:
        session.profile(repeats=program.measured)
    return session.save(folder / "page.html")


def take(browser: Any, folder: Path, wanted: list[str]) -> Iterator[tuple[str, Any]]:
    """Write the screenshots with these numbers, or all; yield each open page.

    `page.problems` has its errors.
    """
    pages: dict[str, Path] = {}
    with tempfile.TemporaryDirectory() as kept:
        for name, shot in SHOTS.items():
            if wanted and name[:2] not in wanted:
                continue
            if shot.program not in pages:
                place = Path(kept) / shot.program
                place.mkdir()
                pages[shot.program] = page_of(PROGRAMS[shot.program], place)
            for width, theme in VIEWS:
                page = browser.new_page(
                    viewport={"width": width, "height": 900}, color_scheme=theme
                )
                page.problems = []
                page.on("pageerror", lambda error, page=page: page.problems.append(str(error)))
                page.goto(pages[shot.program].as_uri())
                page.wait_for_selector(".xe[data-ready]", timeout=120_000)
                page.wait_for_timeout(500)
                shot.act(page)
                page.wait_for_timeout(900)
                file = f"{name}_{width}_{theme}"
                page.screenshot(path=str(folder / f"{file}.png"))
                yield file, page
                page.close()


def main(folder: Path, wanted: list[str]) -> None:
    """Take them and say what went wrong."""
    from playwright.sync_api import sync_playwright

    from tests.browser.test_legible import CHROMIUM

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, page in take(browser, folder, wanted):
            print(name, *page.problems, flush=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
