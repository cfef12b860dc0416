"""Exported pages keep of a path the name of its file, whatever kind of path it is."""

from __future__ import annotations

import json

import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.payload import build_payload
from xla_explorer.explorer.page.private_paths import cut_paths, cut_paths_in_data
from xla_explorer.explorer.page.static_form import static_html

PATHS = {
    r"\\server\share\secret\model.py": "model.py",
    r"\\wsl$\Ubuntu\home\secret\model.py": "model.py",
    r"\\\\server\\share\\secret\\model.py": "model.py",
    "../secret/model.py": "model.py",
    "../../secret/deep/model.py": "model.py",
    "~/secret/model.py": "model.py",
    "~secret/x/model.py": "model.py",
    "/secret/model.py": "model.py",
    "/secret": "secret",
    "C:\\Users\\secret\\model.py": "model.py",
    "gs://secret/a/model.py": "model.py",
    "s3://secret/model.py": "model.py",
    "file:///home/secret/model.py": "model.py",
    "file://host/secret/model.py": "model.py",
    "https://me:secret@host/model.py": "https://host/model.py",
    "ssh://me:secret@host/a/model.py": "model.py",
}
KEPT = (
    "jit(f)/jit(main)/add",
    "a/b/c",
    "https://host/a/b",
    "1..2/3",
    "x = 3 /* c */ / 4",
    "and/or",
    "// a comment",
    "\\x1b[2J a",
    "~ b",
    "a~b/c",
)


@pytest.mark.parametrize("path", PATHS)
def test_the_name_of_the_file_stays(path: str) -> None:
    assert cut_paths(path) == PATHS[path]
    assert (
        cut_paths(f"made by {path}:12 here")
        == f"made by {PATHS[path] if path != '/secret' else path}:12 here"
    )
    assert (
        cut_paths(f'source_file="{path}" source_line=3')
        == f'source_file="{PATHS[path] if path != "/secret" else path}" source_line=3'
    )


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_path_stays(text: str) -> None:
    assert cut_paths(text) == text


def test_a_page_has_none_of_them() -> None:
    adds = "\n".join(
        f'  v{k + 1} = f32[4] add(v{k}, v{k}), metadata={{op_name="jit(f)/add" source_file="{p}" source_line={k + 1}}}'.replace(
            "\\", "\\\\"
        )
        for k, p in enumerate(path for path in PATHS if path != "/secret")
    )
    text = f"HloModule m\nENTRY e {{\n  v0 = f32[4] parameter(0)\n{adds}\n  ROOT r = f32[4] negate(v{len(PATHS) - 1})\n}}\n"
    source = xe.compile(text, backend="interpreter")._explorer_source_()
    assert "secret" not in cut_paths(static_html(source, inline_svg=True))
    assert "secret" not in json.dumps(cut_paths_in_data(build_payload(source, complete=True)))
