"""The frame of the student's own compiler.

Five notebooks each have one part as a task, a file in the folder `mini` beside the notebook;
notebook 20 combines them.
"""

from xla_explorer.course.mini.block import transformer_block
from xla_explorer.course.mini.graph import EXPENSIVE, Graph, Node, evaluate, inputs_of
from xla_explorer.course.mini.parts import PartMissingError, part, parts
from xla_explorer.course.mini.programs import arrays_of, graph_of
from xla_explorer.course.mini.running import Program

__all__ = [
    "EXPENSIVE",
    "Graph",
    "Node",
    "PartMissingError",
    "Program",
    "arrays_of",
    "evaluate",
    "graph_of",
    "inputs_of",
    "part",
    "parts",
    "transformer_block",
]
