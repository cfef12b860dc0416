"""Exported pages carry no path of the user's machine, except on request."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.payload import unpacked
from xla_explorer.explorer.page.private_paths import (
    cut_folders,
    cut_folders_in_data,
    cut_paths,
    cut_paths_in_data,
)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("/home/me/model.py:12", "model.py:12"),
        ("at /home/me/model.py:12, then /tmp/x.py", "at model.py:12, then x.py"),
        ("/home/alice smith/secret project/model.py:3", "model.py:3"),
        (
            'metadata={op_name="a" source_file="/home/alice smith/m.py" source_line=3}',
            'metadata={op_name="a" source_file="m.py" source_line=3}',
        ),
        ("source_file=&quot;/home/alice smith/m.py&quot; x", "source_file=&quot;m.py&quot; x"),
        ("file:///home/me/x.hlo", "x.hlo"),
        (r"C:\Users\alice smith\m.py:4", "m.py:4"),
        (r'source_file="C:\\Users\\alice\\m.py"', 'source_file="m.py"'),
        ("<td>/home/me/m.py:1</td><b>x</b>", "<td>m.py:1</td><b>x</b>"),
        # Texts that only look like paths.
        ('op_name="jit(f)/jit(main)/add"', 'op_name="jit(f)/jit(main)/add"'),
        ("add(%a, /*index=5*/%b) // remark", "add(%a, /*index=5*/%b) // remark"),
        ("a / b, 3/4, 12.5 GB/s", "a / b, 3/4, 12.5 GB/s"),
        ('xmlns="http://www.w3.org/2000/svg"', 'xmlns="http://www.w3.org/2000/svg"'),
        ("HLO passes/simplification", "HLO passes/simplification"),
    ],
)
def test_cut_to_the_name(given: str, wanted: str) -> None:
    assert cut_paths(given) == wanted


def test_in_nested_data() -> None:
    assert cut_paths_in_data({"a": [("/x/y/z.py", 1)], "b": None}) == {
        "a": [["z.py", 1]],
        "b": None,
    }


def test_of_a_line_only_the_file_and_the_number_stay() -> None:
    shown = "at secret_project/model.py:12 (alice/m.py:3), a / b:1, dot{1,0} x/y, jit(f)/exp"
    assert cut_folders(shown) == "at model.py:12 (m.py:3), a / b:1, dot{1,0} x/y, jit(f)/exp"
    assert cut_folders_in_data({"line": ["/home/alice/m.py:3", 4, "alice/m.py:4"]}) == {
        "line": ["m.py:3", 4, "m.py:4"]
    }


SECRET = "/home/alice smith/secret project/model.py"
TEXT = f"""HloModule m

FileNames
1 "{SECRET}"

ENTRY e {{
  x = f32[4] parameter(0), metadata={{op_name="x" source_file="{SECRET}" source_line=3}}
  ROOT y = f32[4] exponential(x), metadata={{op_name="jit(f)/exp" source_file="/srv/data/other.py" source_line=4}}
}}"""


def _everything(page: str) -> str:
    """Return the page with its data unpacked."""
    found = re.search(r'id="data">([^<]*)<', page)
    assert found is not None
    data: Any = unpacked(base64.b64decode(found.group(1)))
    return page + repr(data)


def test_a_page_carries_names_of_files_only_unless_asked() -> None:
    session = xe.compile(
        TEXT.replace(f'FileNames\n1 "{SECRET}"\n\n', ""), filename="/home/alice smith/dumps/m.hlo"
    )
    page = _everything(session.to_html())
    for word in ("alice", "secret", "/srv/", "dumps"):
        assert word not in page, word
    assert "model.py" in page and "jit(f)/exp" in page
    assert "secret project" in _everything(session.to_html(paths=True))
    with xe.options.set(paths=True):
        assert "secret project" in _everything(session.to_html())


def test_the_policy_allows_our_script_only() -> None:
    page = xe.compile(TEXT.replace(f'FileNames\n1 "{SECRET}"\n\n', "")).to_html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert (
        "default-src 'none'" in policy.group(1)
        and "unsafe-eval" not in policy.group(1)
        and "script-src 'sha256-" in policy.group(1)
    )
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")
    assert page.count("<script") == 2  # the data and the one script
