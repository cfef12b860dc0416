"""The explorer kept in a notebook's output: small, and as complete as the user allows."""

from __future__ import annotations

import base64
import html
import re
import zlib

import pytest

pytest.importorskip("anywidget")

import xla_explorer as xe
from tests.support.explorer_fakes import GeneratedSource, SoftmaxSource
from xla_explorer.explorer.page.saved_form import saved_html
from xla_explorer.explorer.page.static_form import static_html
from xla_explorer.notebook.explorer_widget import ExplorerWidget


def _packed_page(text: str) -> str:
    (document,) = re.findall('srcdoc="([^"]*)"', text)
    (data,) = re.findall(r'atob\("([^"]*)"\)', html.unescape(document))
    return zlib.decompress(base64.b64decode(data)).decode()


def test_a_small_compile_is_kept_whole_below_its_still_form() -> None:
    source = SoftmaxSource()
    shown = ExplorerWidget(source)._repr_mimebundle_()
    assert shown is not None
    text = shown[0]["text/html"]
    assert (
        text.startswith(static_html(source))
        and "<script" not in text
        and 'sandbox="allow-scripts"' in text
    )
    page = _packed_page(text)
    assert (
        page.startswith("<!doctype html>")
        and "Content-Security-Policy" in page
        and 'id="data"' in page
    )


def test_the_user_says_how_much_is_kept() -> None:
    source = SoftmaxSource()
    with xe.options.set(embed=1_000):
        shown = ExplorerWidget(source)._repr_mimebundle_()
        assert shown is not None and shown[0]["text/html"] == static_html(source)
    assert saved_html(source, 0) == static_html(source) and xe.options.embed == 500_000
    assert "<iframe" not in saved_html(GeneratedSource(), 10**9)
    with xe.options.set(embed=None):
        assert xe.options.embed == 0
    with pytest.raises(xe.XlaExplorerError, match="not a number of characters above zero"):
        xe.options.embed = -1
