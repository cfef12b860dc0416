"""Hooks of Sphinx: write the reference before pages are read, and formulas as MathML."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from docutils import nodes
from ipython_pygments_lexers import IPython3Lexer
from latex2mathml.converter import convert
from nbclient import NotebookClient
from sphinx.application import Sphinx

from notebooks.book.llms import write_llms
from notebooks.book.reference import write_reference


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the hooks; Sphinx calls this function."""
    # A kernel may start within a minute only, too little on a loaded machine; MyST-NB has no
    # setting for it.
    NotebookClient.__init__ = partialmethod(
        NotebookClient.__init__, startup_timeout=app.config.nb_execution_timeout
    )
    app.connect("env-before-read-docs", _spread)
    app.connect("doctree-read", _without_empty_outputs)
    app.connect("config-inited", lambda app, config: write_reference())
    app.connect("config-inited", lambda app, config: write_llms())
    app.add_lexer("python", IPython3Lexer)  # cells have magics too
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _spread(app: Sphinx, environment: Any, pages: list[str]) -> None:
    """Distribute executed pages over the processes.

    Each process reads consecutive pages, and executed pages are neighbours in the alphabet.
    """
    pages[:] = [page for first in range(8) for page in pages[first::8]]


def _without_empty_outputs(app: Sphinx, document: nodes.document) -> None:
    """Remove outputs without text, which erased progress lines leave behind."""
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
