"""Nothing is parsed back out of words: what the script reads, it reads from fields."""

from __future__ import annotations

import re

from xla_explorer.explorer.page.front_end import ASSETS

_LITERAL = re.compile(
    r"(?:^|[=>(,:;!&|?+\[]|\breturn)\s*(/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[dgimsuvy]*)"
)
# file: {regular expression: what it reads}. A text of the kernel's that carries a fact (a unit, an
# opcode, a verdict, an operand) has no place here: let the fact travel as a field of its row.
ALLOWED = {
    "elements.js": {
        "/^aria([A-Z])/": "the name of a property of the DOM",
        r"/\B(?=(\d{3})+$)/g": "where a number is grouped",
        "/(?<=_)/": "where a name may be broken",
    },
    "hover.js": {r"/[\w.$-]/": "where the word under the pointer ends"},
    "mnemonics.js": {
        "/^@/": "a name of LLVM as it is hovered",
        "/^[bwlq]?$/": "the width at the end of an x86 mnemonic",
    },
    "overview.js": {
        r"/(\.\d+|\.clone)+$/": "the number at the end of a name, which makes it its own"
    },
    "page.js": {r"/^\d+$/": "a number in the address"},
    "printed_links.js": {
        r"/%([\w.-]+)/g": "the names of operands in a line of HLO, which is a format"
    },
    "search.js": {
        "/^%/": "what a reader typed",
        "/^mul/": "an example for the reader",
        "/pattern/": "an example for the reader",
    },
    "search_language.js": {
        "/^%/": "what a reader typed",
        r'/(-?)(?:([A-Za-z]+)(:|>=|<=|>|<|=))?("[^"]*"|\/(?:[^/\\]|\\.)+\/|\S+)/g': "the terms that a reader typed",
        r"/^([0-9.]+(?:e[+-]?[0-9]+)?)([a-zA-Zµ%]*)$/": "a number that a reader typed",
        r"/[.*+?^${}()|[\]\\]/g": "what a reader typed, as it is",
        r"/^\s*(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\(/": "a line of HLO, which is a format; search.py reads it alike",
        r'/op_name="((?:[^"\\]|\\.)*)"/': "metadata of a line of HLO",
        r'/source_file="([^"]*)"/': "metadata of a line of HLO",
        r"/source_line=(\d+)/": "metadata of a line of HLO",
    },
    "tensor_layout.js": {
        r"/([a-z]\w*)\[([^\]]*)\](?:\{([\d,]*)(?::([^{}]*))?\})?/g": "a shape of HLO, which is a format",
        r"/T((?:\([\d,*]+\))+)/": "the tiles of a layout",
        r"/\(([\d,*]+)\)/g": "one of its tiles",
        r"/S\((\d+)\)/": "the memory space of a layout",
        r"/\d+/": "the bits in the name of an element type",
    },
    "store.js": {r"/\{(\w+)\}/g": "the places of arguments in a call of Python"},
    "tables.js": {
        r'/[",\n\r]/': "whether a cell of CSV needs quotes",
        r"/^[=+\-@]/": "what a spreadsheet would run",
    },
    "texts.js": {r"/[\w.%]/": "where a word ends, for the mark of what changed in a line"},
    "theme.js": {
        "/^vscode-(dark|light|high-contrast)/": "a class of the host's page",
        "/^(dark|light)$/": "an attribute of the host's page",
        r"/[\d.]+/g": "a colour that the browser computed",
    },
}


def test_every_regular_expression_of_the_script_reads_what_is_not_the_kernels_prose() -> None:
    found: dict[str, set[str]] = {}
    for file in sorted(ASSETS.rglob("*.js")):
        for line in file.read_text(encoding="utf-8").splitlines():
            code = line.split(" //")[0]
            if not code.lstrip().startswith(("//", "*", "/*")):
                for literal in _LITERAL.findall(code):
                    found.setdefault(file.name, set()).add(literal)
    highlighting = {literal for literal in found["highlighted.js"] if literal.startswith(r'/("(?:')}
    assert len(highlighting) == 1, "one expression finds the tokens that are coloured"
    assert found.pop("highlighted.js") == highlighting
    assert found == {file: set(reasons) for file, reasons in ALLOWED.items()}


def test_the_finder_of_regular_expressions_finds_them() -> None:
    seen = _LITERAL.findall(
        "a = /x/g; if (/y[/]z/.test(b)) return /w/; c / d / e; f(1, /\\bus\\b/)"
    )
    assert seen == ["/x/g", "/y[/]z/", "/w/", r"/\bus\b/"]


_METHOD = re.compile(r"\.((?:startsWith|endsWith|split|match|matchAll)\([^)]*\))")
# file: {call: what it takes apart}
TAKEN_APART = {
    "decisions.js": {r'split("\u0000")': "a key that the same file put together"},
    "editor.js": {'split("\\n")': "the lines of what a reader types"},
    "elements.js": {
        'startsWith("on")': "the name of an event of the DOM",
        'startsWith("aria")': "the name of a property of the DOM",
        "split(/(?<=_)": "a name, to break it behind its words",
    },
    "layout.js": {'split(":")': "a key that the same file put together"},
    "llvm.js": {
        'split("\\n")': "a unified diff, which is a format",
        **{
            f'startsWith("{mark}")': "the mark of a line of a unified diff"
            for mark in ("---", "+++", "@@", "-", "+")
        },
    },
    "mnemonics.js": {"startsWith(key)": "the word under the pointer, to find its help"},
    "open_panes.js": {
        'endsWith("*")': "the tab in front, in the address",
        'split(".")': "the tabs of a pane, in the address",
    },
    "explorer.js": {'startsWith("%")': "a name in the address"},
    "folds.js": {
        'startsWith("}")': "the end of a computation or function, which a format has there",
        'endsWith("{")': "its head",
    },
    "page.js": {
        'split(" ")': "the panes in the address",
        'split("&")': "the parts of the address",
        'startsWith("select=")': "a part of the address",
        'startsWith("%25")': "an encoded % in the address",
    },
    "pools.js": {'split("%")': "a text that pools.py took apart there"},
    "printed_links.js": {
        'startsWith("}")': "the end of a computation in the text of HLO",
        "matchAll(/%([\\w.-]+)": "operands in a line of HLO",
    },
    "rewrite.js": {'split("\\n")': "the lines of a rule, to show them"},
    "scene.js": {'split(":")': "a key of layout.js"},
    "search.js": {'startsWith("%")': "what a reader typed"},
    "store.js": {'split("\\n")': "lines of JSON, each a value"},
    "search_language.js": dict.fromkeys(
        ('endsWith("/")', 'startsWith("/")', "startsWith('\"')", 'split("*")', "matchAll(/(-?)"),
        "what a reader typed",
    ),
    "highlighted.js": {"matchAll(TOKEN)": "tokens, to colour them"},
    "tensor_layout.js": {
        'split(",")': "the numbers of a shape of HLO, which is a format",
        "matchAll(ARRAY)": "the arrays of a shape of HLO",
        "matchAll(TILE)": "the tiles of a layout",
    },
    "why_on_demand.js": {'split("/")': "the path of a file, of which the end is shown"},
    "theme.js": {
        'endsWith("light")': "a class of the host's page",
        r"match(/[\d.]+/g)": "a colour that the browser computed",
    },
}


def test_no_text_of_the_kernel_is_taken_apart() -> None:
    found = {
        file.name: set(_METHOD.findall(file.read_text(encoding="utf-8")))
        for file in sorted(ASSETS.rglob("*.js"))
    }
    assert {name: calls for name, calls in found.items() if calls} == {
        name: set(calls) for name, calls in TAKEN_APART.items()
    }
