"""The cause of each program: the lines that show it, and the words of an answer that names it.

A line is named by a part of its text. `fixes.py` has a program without the mistake.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Final, NamedTuple

KINDS: Final = (
    *("small_steps", "layouts", "copies", "operations", "selections", "repeated", "wide_types"),
    *("not_finite", "precision", "places"),
)
WRONG: Final = ("not_finite", "precision", "places")
"""Kinds of programs that are wrong; the others are slow."""


class Cause(NamedTuple):
    """The cause of a program.

    sentence: for a reader. lines: parts of the text of lines that show it; one of them is enough.
    words: a regular expression; an answer that names the cause matches it.
    """

    sentence: str
    lines: tuple[str, ...]
    words: str


CAUSES: Final[dict[str, Cause]] = {
    # small_steps
    "scores_of_rows": Cause("a loop of 2000 rows, each a few short kernels", ("lax.map", "row @ w", "hidden @ v"), "loop of 2000 steps.*vmap"),
    "columns_to_unit_norm": Cause("a Python loop over columns", ("x = x.at", "column = x"), "unrolled.*whole arrays"),
    "moving_average": Cause("a linear recurrence step by step", ("lax.scan", "0.95"), "loop of 3000 steps.*associative_scan"),
    "gelu_of_rows": Cause("a loop over rows that are independent", ("fori_loop", "out.at[k]", "dynamic_index"), "loop of 2000 steps.*vmap"),
    "product_by_elements": Cause("a product in two loops", ("c.at[i, j]", "fori_loop(0, b"), "one element a step.*a @ b"),
    # layouts
    "features_by_step": Cause("an order of dimensions that needs a transpose", ("einsum",), "transpose a large array"),
    "messages_of_edges": Cause("a scatter by the last dimension", (".at[:, target]", "scaled[:, source]"), "by the last dimension.*indexed dimension first"),
    "chosen_columns": Cause("a gather by the last dimension", ("x[:, index]",), "by the last dimension.*indexed dimension first"),
    "many_small_products": Cause("a product whose batch is the last dimension", ("einsum",), "batch as the last dimension.*batch first"),
    "column_by_column": Cause("columns that are read one by one", ("axis=1", "total * w", "fori_loop"), "columns of an array are read.*x.T"),
    # copies
    "write_to_cache": Cause("the cache is copied since it is not donated", ("dynamic_update_slice",), "copies of arguments.*[Dd]onate"),
    "rows_one_by_one": Cause("rows that are appended one by one", ("jnp.concatenate", "out.mean"), "unrolled.*concatenate"),
    "relaxation": Cause("two states that change places are copied", ("new = 0.5", "fori_loop"), "only copy or transpose.*carry less"),
    "replay_memory": Cause("a choice between two whole arrays in each step", ("jnp.where",), "steps of a loop moves.*choose between rows"),
    "history_of_states": Cause("the history is shifted in each step", ("jnp.concatenate", "fori_loop"), "steps of a loop moves.*wrap around"),
    # operations
    "projected_vector": Cause("two matrices are multiplied before the vector", ("both = a @ b",), r"three matrices.*\(b @ v\)"),
    "embedded_tokens": Cause("a product with a one-hot matrix", ("chosen @ table", "one_hot"), "one-hot matrix.*by index"),
    "scaled_rows": Cause("a product with a diagonal matrix", ("jnp.diag",), "diagonal matrix.*scale the rows"),
    "nearest_centre": Cause("distances of all pairs without a product", ("difference**2", "x[:, None"), r"all pairs.*x @ y\.T"),
    "overlap": Cause("a product of which only the diagonal is read", ("product = a @ b",), "read in a small part.*trace"),
    # selections
    "mean_of_largest": Cause("a whole sort for four values", ("jnp.sort",), "sorts.*few elements.*top_k"),
    "diffusion_step": Cause("neighbours that are gathered by index", ("u[(n", "0.1 * "), "constants .a stencil.*jnp.roll"),
    "expert_of_token": Cause("a weight that is copied for each row", ("vmap",), "copies of a weight.*ragged_dot"),
    "running_totals": Cause("running sums by windows", ("cumsum",), "running sums.*associative_scan"),
    "best_candidate": Cause("a whole sort for one place", ("argsort",), "sorts.*few elements.*top_k"),
    # repeated
    "with_table": Cause("a table that is compiled into the program", ("_TABLE",), "captured constant.*pass it as an argument"),
    "prefix_energies": Cause("sums of all beginnings, each from the start", ("squares[:",), "unrolled.*whole arrays"),
    "next_token": Cause("all positions are computed, one is read", ("weights @ v",), "read in a small part.*one row"),
    "either_branch": Cause("both sides of a choice are computed", ("costly = ", "jnp.where"), "both sides of a choice.*lax.cond"),
    "gradient_of_blocks": Cause("jax.checkpoint computes the blocks again", ("x @ w", "block(block"), "checkpoint computes values a second time"),
    # wide_types
    "scaled_features": Cause("a scale of numpy's type, f64", ("x * scale", "scaled @ w"), "64-bit.*32 bits"),
    "half_precision_layer": Cause("weights that are widened before the product", ("w.astype", "x.astype"), "16-bit operands.*preferred_element_type"),
    "weighted_positions": Cause("positions in f64", ("weight[:, None]", "linspace"), "64-bit.*32 bits"),
    "filtered_signal": Cause("complex transforms of real signals", ("jnp.fft",), "real values.*rfft"),
    "length_of_rows": Cause("a sum in f64", ("float64", "x / length"), "64-bit.*32 bits"),
    # not_finite
    "entropy": Cause("the logarithm of a probability that is 0", ("jnp.log(p)",), "infinity.*log of 0"),
    "own_softmax": Cause("an exponential that overflows", ("jnp.exp",), "infinity.*exponential of.*maximum"),
    "gradient_of_root": Cause("the gradient of a root at 0", ("jnp.sqrt", "jax.grad"), "infinity.*0.5 / 0.*jnp.where on the operands"),
    "standardised": Cause("a deviation of 0", ("hidden.std",), "NaN.*0 / 0.*small number"),
    "energy_in_half": Cause("a square that overflows f16", ("x * x",), "infinity.*391.*wider type"),
    # precision
    "deviation": Cause("a difference of two large squares", ("square - mean",), "cancellation.*before squaring"),
    "count_of_pixels": Cause("a count in bf16", ("total + row", "lax.scan"), "absorption.*bf16.*wider type"),
    "flat_index": Cause("an index beyond 32 bits", ("row * 70000",), "integer-overflow.*wider type"),
    "small_gains": Cause("1 + x of a small x", ("1.0 + rate",), "absorption.*log1p"),
    "slope": Cause("a difference of near values", ("near - here",), "cancellation.*larger steps"),
    # places
    "regression_loss": Cause("a column and a row become a square", ("prediction - y",), "all-pairs.*one shape"),
    "sums_by_class": Cause("updates of one class overwrite each other", (".set(values)",), r"overwritten-update.*\.add"),
    "last_window": Cause("a window beyond the end", ("dynamic_slice",), "index-out-of-range.*border"),
    "shifted_tokens": Cause("tokens beyond the table", ("jnp.take",), "index-out-of-range.*correct the index"),
    "appended": Cause("rows that are written behind the end", (".set(rows)",), "dropped-update.*longer"),
}  # fmt: skip


LATER: Final[dict[str, Cause]] = {
    "horner": Cause("small_steps", ("lax.map", "point **", "powers * "), "steps.*vmap"),
    "levels": Cause("small_steps", ("inside = ", "counts.append"), "unrolled"),
    "columns_in_order": Cause("layouts", ("jnp.take",), "last dimension"),
    "products_of_pairs": Cause("layouts", ("einsum",), "batch"),
    "sliding_mean": Cause("copies", ("jnp.concatenate", "lax.scan"), "moves"),
    "momentum": Cause("copies", (".set(rows)", ".add(gradient)"), "onate"),
    "weighted_gram": Cause("operations", ("x.T @ middle", "jnp.diag"), "diagonal"),
    "quadratic_form": Cause("operations", ("squared = a @ a",), "three matrices"),
    "smallest_distance": Cause("selections", ("argsort",), "sort.*few"),
    "shifted_difference": Cause("selections", ("x[later]",), "roll"),
    "nearest_word": Cause("repeated", ("WORDS",), "captured"),
    "gated": Cause("repeated", ("transformed = ", "lax.select"), "cond"),
    "normalised": Cause("wide_types", ("x - mean", "np.full"), "64-bit"),
    "power_spectrum": Cause("wide_types", ("jnp.fft.fft",), "rfft"),
    "cross_entropy": Cause("not_finite", ("jnp.exp(logits", "p / p.sum", "jnp.log(chosen)"), "infinity"),
    "cosine": Cause("not_finite", ("/ length",), "0 / 0"),
    "elapsed": Cause("precision", ("1.7e9 + ", "now - 1.7e9"), "absorption|cancellation"),
    "checksum": Cause("precision", ("position * position",), "integer-overflow"),
    "residuals": Cause("places", ("mean - y",), "all-pairs"),
    "label_counts": Cause("places", (".add(1)",), "dropped-update"),
}  # fmt: skip
"""Causes of `programs/written_later.py`; the sentence is the kind."""


def programs(kind: str) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return the functions of a kind with their arguments."""
    module = importlib.import_module(f"tests.usage.programs.{kind}")
    return {name: (getattr(module, name), given) for name, given in module.ARGUMENTS.items()}


def wide_programs(kind: str) -> frozenset[str]:
    """Return the programs of a kind that run with 64-bit types."""
    module = importlib.import_module(f"tests.usage.programs.{kind}")
    return frozenset(getattr(module, "X64", ()))


def places_of(name: str, function: Any) -> list[str]:
    """Return `file.py:12` of each line that shows the cause of a program."""
    lines, first = inspect.getsourcelines(function)
    file = inspect.getsourcefile(function)
    assert file is not None
    found = [
        f"{file.rpartition('/')[2]}:{first + k}"
        for k, line in enumerate(lines)
        if any(part in line for part in (CAUSES | LATER)[name].lines)
    ]
    assert found, name
    return found
