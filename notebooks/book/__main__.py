"""Build and check the book: `python -m notebooks.book [FOLDER]`, by default into `build/book`.

Needs the extra `docs`. Warnings are errors. Lectures, how-to pages and the tour are executed; the
examples of the reference run in another process. Every link inside the book is followed. The counts
are printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from notebooks.book.checks import broken_links, executed_cells, loaded_from_elsewhere
from notebooks.book.examples import run_examples

NOTEBOOKS = Path(__file__).resolve().parents[1]


def main() -> int:
    """Build and check the book, print the counts, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.book", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=NOTEBOOKS.parent / "build" / "book",
        help="the folder of the pages (default: build/book)",
    )
    parser.add_argument(
        "--again", action="store_true", help="build every page again, not only changed ones"
    )
    cores = min(os.cpu_count() or 1, 8)
    parser.add_argument(
        "--jobs",
        default=cores,
        type=int,
        help="processes that execute and write pages (default: %(default)s)",
    )
    given = parser.parse_args()
    if given.again:
        shutil.rmtree(NOTEBOOKS / "reference", ignore_errors=True)
    started, before = time.monotonic(), os.times()
    options = [
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-j",
        str(given.jobs),
        *["-E", "-a"][: 2 * given.again],
    ]
    # Cells call `xla-explorer`, even if the environment of this Python is not activated.
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [sys.executable, "-m", "sphinx", *options, str(NOTEBOOKS), str(given.folder)]
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn")
    ) as pool:  # examples run while Sphinx executes cells
        ran = pool.submit(run_examples)
        built = subprocess.run(command, env={**os.environ, "PATH": here}, check=False).returncode
        examples, failures = ran.result()
    if built:
        print("the book was not built: see the warnings above", file=sys.stderr)
    links, broken = broken_links(given.folder)
    elsewhere = loaded_from_elsewhere(given.folder)
    cells, pages = executed_cells()
    for problem in [*failures, *broken, *elsewhere]:
        print(problem, file=sys.stderr)
    after = os.times()
    used = sum(after[:4]) - sum(before[:4])
    print(
        f"{given.folder / 'index.html'}: {len(list(given.folder.rglob('*.html')))} pages, {cells} cells of {pages} pages executed,"
    )
    print(
        f"{examples} examples run, {links} links followed ({len(broken)} broken), {len(elsewhere)} files loaded from a network;"
    )
    print(f"{used:.0f} s of processor time, {time.monotonic() - started:.0f} s in all")
    return built or int(bool(failures or broken or elsewhere))


if __name__ == "__main__":
    sys.exit(main())
