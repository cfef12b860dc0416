"""Private paths are removed from exported text: of an absolute path only the file name stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_SEGMENT = r"[^\s\"'<>:/\\,;=(){}\[\]*|&]"
# An unquoted path. `jit(f)/jit(main)/add` and `</b>` are none: it follows no name, closing bracket
# or `<`.
_FREE = re.compile(rf"(?<![\w)\]}}./*<:\\-])(?:file://)?/(?:{_SEGMENT}+/)+(?={_SEGMENT})")
_WINDOWS = re.compile(
    rf"(?<![\w)\]}}])[A-Za-z]:[\\/]{{1,2}}(?:(?:{_SEGMENT}| )+[\\/]{{1,2}})+(?={_SEGMENT})"
)
# Between quotes a path may hold any character.
_QUOTED = re.compile(r'(?<=")/(?:[^"\n\\/]|\\.)+/(?:(?:[^"\n\\/]|\\.)*/)*(?=[^"\n/]+")')
_ESCAPED = re.compile(
    r"(?<=&quot;)/(?:(?!&quot;)[^\n/])+/(?:(?:(?!&quot;)[^\n/])*/)*(?=(?:(?!&quot;)[^\n/])+&quot;)"
)
# Network shares, also of WSL, with backslashes as they are or as in a string literal; paths upwards
# from a working folder, or from home; places in stores (gs://, s3://, file://host); logins.
_SHARE = re.compile(rf"(?<![\w\\])\\{{2,}}(?:(?:{_SEGMENT}| )+[\\/]+)+(?={_SEGMENT})")
_UPWARDS = re.compile(
    rf"(?<![\w)\]}}./])(?:\.\.[\\/]{{1,2}}|~[\w.-]*/)(?:\.\.[\\/]{{1,2}}|{_SEGMENT}+[\\/]{{1,2}})*(?={_SEGMENT})"
)
_STORE = re.compile(rf"\b(?!https?:)[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s\"'<>/]*/)+(?={_SEGMENT})")
_LOGIN = re.compile(r"(?<=://)[^\s\"'<>/@]+@")
_ROOT = re.compile(rf"/{_SEGMENT}+")
_PLACE = re.compile(
    rf"(?<![\w)\]}}./])(?:{_SEGMENT}+[/\\])+(?={_SEGMENT}+\.\w+:\d)"
)  # before `file.py:12`
_WHOLE = re.compile(r"(?:file://)?/[^\n\"/<>]+/(?:[^\n\"/<>]*/)*(?=[^\n\"/<>]+\Z)")


def cut_paths(text: str) -> str:
    """Cut absolute paths to file names: `/home/me/model.py:12` becomes `model.py:12`."""
    if "/" not in text and "\\" not in text:
        return text
    if "/" not in text.replace("/*", "").replace("*/", "").replace(" // ", "") and "\\" not in text:
        return text  # the comments of HLO: /*index=5*/, the quotients of loop nests: i // 128
    text = _STORE.sub("", _LOGIN.sub("", text))
    if text.startswith(("/", "file:")) and not text.startswith("//"):
        text = _WHOLE.sub("", text, count=1)
        if _ROOT.fullmatch(text):
            return text[1:]
    for pattern in (_WINDOWS, _SHARE, _UPWARDS, _QUOTED, _ESCAPED, _FREE):
        text = pattern.sub("", text)
    return text


def cut_folders(text: str) -> str:
    """Cut absolute paths, and relative ones of source lines: `models/gpt.py:38` -> `gpt.py:38`."""
    return _PLACE.sub("", cut_paths(text))


def cut_folders_in_data(data: Any) -> Any:
    """Apply `cut_folders` to every string in nested lists, tuples and dicts; keys stay."""
    return _mapped(data, cut_folders)


def cut_paths_in_data(data: Any) -> Any:
    """Apply `cut_paths` to every string in nested lists, tuples and dicts; keys stay."""
    return _mapped(data, cut_paths)


def _mapped(data: Any, cut: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return cut(data) if "/" in data or "\\" in data else data
    if isinstance(data, dict):
        return {key: _mapped(value, cut) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [
            value
            if (kind := type(value)) is int
            or (kind is str and "/" not in value and "\\" not in value)
            else _mapped(value, cut)
            for value in data
        ]
    return data
