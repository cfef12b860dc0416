"""The pages of the public names: what their docstrings say, as numpydoc reads them. `tests.api.public_api` knows which names there are."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from numpydoc.docscrape_sphinx import SphinxDocString

import xla_explorer as xe
from notebooks.book.member_examples import EXAMPLES, FIRST
from tests.api.public_api import classes, names

# group -> (title, what it is); a name belongs to the longest that begins it
GROUPS = {
    "xe": ("xe: the calls", "Everything begins here: `import xla_explorer as xe`."),
    "xe.compare": ("xe.compare", "Two programs, two compiles or two backends beside each other."),
    "xe.hlo": (
        "xe.hlo",
        "The language itself: control flow for traced functions, several devices, printing.",
    ),
    "xe.charts": ("xe.charts", "Charts with altair (extra `charts`)."),
    "xe.xla": (
        "xe.xla: real XLA",
        "What real XLA did with a program, how long it took, and what it holds (extra `jax`).",
    ),
    "xe.errors": (
        "xe.errors",
        "Every error that the public calls document. All are `XlaExplorerError`.",
    ),
    "Session": ("Session", "What `xe.compile` returns."),
    "session.llvm": ("session.llvm", "What LLVM did."),
    "session.passes": ("session.passes", "What the passes did, one after another."),
    "session.passes[k]": ("session.passes[k]", "One pass."),
    "trace": ("trace", "What `xe.optimize` returns: passes without a backend."),
}
OWN_PAGES = (
    "xe",
    "xe.compare",
    "xe.hlo",
    "xe.charts",
    "xe.xla",
)  # groups of calls; the members of the others share a page


def file_name(name: str) -> str:
    """The file of a name's page; `session.passes[k]` would be none for a browser."""
    return name.replace("[k]", "-step")


def group_of(name: str) -> str:
    """`xe.compare` for `xe.compare.fusions`."""
    return name.rsplit(".", 1)[0]


def name_pages() -> dict[str, str]:
    """The text of each page by its file name."""
    pages, members = dict[str, str](), dict[str, list[str]]()
    for name, thing in names():
        group = group_of(name)
        if group in OWN_PAGES and name not in GROUPS:
            members.setdefault(group, []).append(f"{file_name(group)}/{name}")
            pages[f"{file_name(group)}/{name}.rst"] = f"{_heading(name, '=')}\n{entry(name, thing)}"
        elif name not in GROUPS:
            members.setdefault(group, []).append(entry(name, thing))
    for group, (title, what) in GROUPS.items():
        own = classes().get(group) or {"xe.compare": xe.compare}.get(group)
        text = [_heading(title, "="), what, ""]
        if own is not None and group != "Session":
            text += [_documentation(own), ""]
        if group in OWN_PAGES:
            text += [
                ".. toctree::",
                "   :maxdepth: 1",
                "",
                *[f"   {page}" for page in members[group]],
                "",
            ]
        else:
            text += ["The examples of this page come after", "", *_code(FIRST), *members[group]]
        pages[f"{file_name(group)}.rst"] = "\n".join(text)
    return pages


def entry(name: str, thing: Any) -> str:
    """The description of one name in reStructuredText."""
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    elif callable(thing) and not isinstance(thing, property):
        kind = "function"
    else:
        kind = "data"
    described, within = (name.rsplit(".", 1)[-1], group_of(name)) if "[" in name else (name, "")
    lines = [f".. py:{kind}:: {described}{signature(thing)}"]
    lines += (
        [f"   :module: {within}", ""] if within else [""]
    )  # a name with a bracket would have no anchor
    lines.append(textwrap.indent(_documentation(thing), "   "))
    if name in EXAMPLES:
        code = (
            f"{FIRST}\n{EXAMPLES[name]}"
            if group_of(name) in OWN_PAGES and "session" in EXAMPLES[name]
            else EXAMPLES[name]
        )
        raised = kind == "exception"
        lines += ["", "   It is raised by:" if raised else "   Example:", "", *_code(code, "   ")]
    return "\n".join(lines) + "\n\n"


def _code(text: str, indentation: str = "") -> list[str]:
    return [
        f"{indentation}.. code-block:: python",
        "",
        textwrap.indent(text, f"{indentation}   "),
        "",
    ]


def signature(thing: Any) -> str:
    """The parameters as they are written, without the quotes of annotations; '' for what is not called."""
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
        return ""
    text = str(inspect.signature(thing))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def documentation_of(thing: Any) -> str:
    """The docstring; '' for what has none of its own, as slots have not."""
    return inspect.getdoc(thing) or "" if not inspect.ismemberdescriptor(thing) else ""


def _documentation(thing: Any) -> str:
    text = "\n".join(_for_sphinx(documentation_of(thing).splitlines()))
    return str(
        SphinxDocString(text, config={"show_class_members": False, "xref_param_type": False})
    ).strip()


def _for_sphinx(lines: list[str]) -> list[str]:
    """Our docstrings mean `*`, `|` and a final `_` as they stand; examples and headings of parameters stay as they are."""
    found, examples, code = list[str](), False, False
    for line in lines:
        if line in (
            "Examples",
            "Parameters",
            "Returns",
            "Raises",
            "Notes",
            "Attributes",
            "See Also",
        ):
            examples = line == "Examples"
        code = code and (line.startswith("    ") or not line.strip())
        code = code or (
            line.startswith("    ") and bool(found) and found[-1].rstrip().endswith("::")
        )
        plain = examples or code or re.match(r"\*{0,2}\w+( : .*)?$", line)
        found.append(line if plain else _escaped(line))
    return found


def _escaped(line: str) -> str:
    parts = re.split(r"(``.*?``|`[^`]*`)", line)
    parts[::2] = [re.sub(r"([*|]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _heading(title: str, mark: str) -> str:
    return f"{title}\n{mark * len(title)}\n"
