"""Reference solution of nb01.mini."""

import re

from xla_explorer.course.mini import Graph, Node

LINE = re.compile(r"\s*(ROOT )?%?([\w.\-]+) = f32\[([\d,]*)\]\S* ([\w\-]+)\((.*?)\)(.*)")
DIMENSIONS = {"dimensions": "dimensions", "lhs_contracting_dims": "lhs_contracting", "rhs_contracting_dims": "rhs_contracting",
              "lhs_batch_dims": "lhs_batch", "rhs_batch_dims": "rhs_batch"}


def numbers(text):
    return tuple(int(part) for part in text.split(",") if part.strip())


def parse(text):
    kinds, nodes, parameters, root, computation = {}, {}, {}, None, ""
    text = re.sub(r"/\*.*?\*/", "", text)
    for line in text.splitlines():
        opened = re.match(r"\s*(ENTRY )?%?([\w.\-]+)\s.*\{\s*$|\s*(ENTRY )?%?([\w.\-]+) \{\s*$", line)
        if opened and "=" not in line.split("{")[0].split("(")[0]:
            entry, computation = opened[1] or opened[3], opened[2] or opened[4]
            continue
        found = LINE.match(line)
        if not found:
            continue
        is_root, name, shape, opcode, inside, rest = found.groups()
        if not entry:
            if is_root:
                kinds[computation] = opcode
            continue
        given = {}
        if opcode == "parameter":
            given["number"] = int(inside)
        elif opcode == "constant":
            given["value"] = float(inside)
        else:
            for key, ours in DIMENSIONS.items():
                written = re.search(rf"[ ,]{key}=\{{([\d, ]*)\}}", rest)
                if written:
                    given[ours] = numbers(written[1])
            if opcode == "reduce":
                given["kind"] = kinds[re.search(r"to_apply=%?([\w.\-]+)", rest)[1]]
            if opcode == "dot":
                given = {key: given.get(key, ()) for key in ("lhs_contracting", "rhs_contracting", "lhs_batch", "rhs_batch")}
        operands = [] if opcode in ("parameter", "constant") else [nodes[o.strip().split(" ")[-1].lstrip("%")] for o in inside.split(",")]
        node = nodes[name] = Node(name, opcode, numbers(shape), operands, given)
        if opcode == "parameter":
            parameters[given["number"]] = node
        if is_root:
            root = node
    return Graph([parameters[number] for number in sorted(parameters)], root)
