"""What the book adds to Sphinx: the reference is written before pages are read; formulas become MathML, which browsers draw."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from docutils import nodes
from ipython_pygments_lexers import IPython3Lexer
from latex2mathml.converter import convert
from nbclient import NotebookClient
from sphinx.application import Sphinx

from notebooks.book.reference import write_reference


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    # A kernel has a minute to start, which a loaded machine may not give it; MyST-NB has no setting for that.
    NotebookClient.__init__ = partialmethod(
        NotebookClient.__init__, startup_timeout=app.config.nb_execution_timeout
    )
    app.connect("env-before-read-docs", _spread)
    app.connect("doctree-read", _without_empty_outputs)
    app.connect("config-inited", lambda app, config: write_reference())
    app.add_lexer("python", IPython3Lexer)  # cells have magics too
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _spread(app: Sphinx, environment: Any, pages: list[str]) -> None:
    """Each process reads a run of pages, and those that are executed stand beside each other in the alphabet: eight runs share them out."""
    pages[:] = [page for first in range(8) for page in pages[first::8]]


def _without_empty_outputs(app: Sphinx, document: nodes.document) -> None:
    """A line of progress that was wiped away leaves an output without a text, which would be an empty box."""
    for block in list(document.findall(nodes.literal_block)):
        if not block.astext().strip():
            around = block.parent
            around.remove(block)
            if isinstance(around, nodes.container) and not around.children:
                around.parent.remove(around)


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
