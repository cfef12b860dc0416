"""The fifty programs without their mistakes, as an answer of the tools says to write them."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp

from tests.usage.programs import copies, repeated


def scores_of_rows(x: Any, w: Any, v: Any) -> Any:
    """Compute all rows at once."""
    x = x - x.mean(0)
    return jax.vmap(lambda row: jnp.tanh(row @ w) @ v)(x)


def columns_to_unit_norm(x: Any) -> Any:
    """Scale whole arrays."""
    x = x / jnp.sqrt((x * x).sum(0) + 1e-6)
    return x @ x.T


def moving_average(x: Any) -> Any:
    """Scan the linear recurrence by halves."""
    centred = x - x.mean(0)

    def combine(a: Any, b: Any) -> Any:
        return a[0] * b[0], a[1] * b[0] + b[1]

    factors = jnp.full_like(centred, 0.95)
    smooth = jax.lax.associative_scan(combine, (factors, 0.05 * centred))[1]
    return smooth * x.std()


def gelu_of_rows(x: Any) -> Any:
    """Compute with the whole array."""
    out = 0.5 * x * (1 + jnp.tanh(0.8 * x))
    return out - out.mean()


def product_by_elements(a: Any, b: Any) -> Any:
    """Multiply."""
    return a @ b


def features_by_step(x: Any, w: Any) -> Any:
    """Keep the order of dimensions; the caller reads [b, t, g]."""
    x = jax.nn.relu(x)
    return jnp.einsum("btf,fg->btg", x, w)


def messages_of_edges(nodes: Any, source: Any, target: Any) -> Any:
    """Store nodes with the features last."""
    rows = nodes.T
    return rows.at[target].add(rows[source] * 0.5).T


def chosen_columns(x: Any, index: Any) -> Any:
    """Gather rows."""
    return jnp.tanh(x.T[index]).mean(0)


def many_small_products(a: Any, b: Any) -> Any:
    """Store the batch first; the caller passes and reads [batch, i, k]."""
    return jnp.maximum(jnp.einsum("bik,bkj->bij", a + 1.0, b), 0.0)


def column_by_column(x: Any, w: Any) -> Any:
    """Read rows of the transposed array."""
    return jax.lax.scan(
        lambda total, row: (jnp.tanh(total * w + row), None), jnp.zeros(len(x)), x.T
    )[0]


def write_to_cache(cache: Any, key: Any, position: Any) -> Any:
    """Donate the cache."""
    return copies.write_to_cache(cache, key, position)


def rows_one_by_one(x: Any, w: Any) -> Any:
    """Subtract what each turn would subtract: the k-th row over k + 1, from all rows up to it."""
    rows = jnp.tanh(x @ w)
    means = rows / (jnp.arange(rows.shape[0]) + 1)[:, None]
    return rows - jnp.cumsum(means[::-1], axis=0)[::-1]


def relaxation(u: Any, f: Any) -> Any:
    """Carry one state; the sweeps of the two are independent."""

    def sweep(_: Any, u: Any) -> Any:
        return 0.5 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0)) + f

    return jax.lax.fori_loop(0, 25, sweep, u)


def replay_memory(memory: Any, states: Any) -> Any:
    """Choose between rows."""

    def step(carry: Any, state: Any) -> Any:
        memory, place = carry
        large = jnp.abs(state).sum() > 10.0
        memory = memory.at[place].set(jnp.where(large, state, memory[place]))
        return (memory, (place + 1) % memory.shape[0]), memory[0, 0]

    return jax.lax.scan(step, (memory, 0), states)


def history_of_states(x: Any, w: Any) -> Any:
    """Return the states of a scan."""

    def step(state: Any, _: Any) -> Any:
        state = jnp.tanh(state @ w)
        return state, state

    return jax.lax.scan(step, x, length=200)[1][::-1]


def projected_vector(a: Any, b: Any, v: Any) -> Any:
    """Multiply the vector first."""
    v = v / jnp.sqrt((v * v).sum())
    return jnp.tanh(a @ (b @ v))


def embedded_tokens(tokens: Any, table: Any, w: Any) -> Any:
    """Take rows by index."""
    return jax.nn.gelu(table[tokens] @ w)


def scaled_rows(d: Any, x: Any, w: Any) -> Any:
    """Scale rows."""
    return (jnp.maximum(d, 0.1)[:, None] * x) @ w


def nearest_centre(x: Any, centres: Any) -> Any:
    """Compute distances by a product."""
    x = x - x.mean(0)
    squares = (x * x).sum(-1)[:, None] + (centres * centres).sum(-1) - 2 * x @ centres.T
    return squares.argmin(-1)


def overlap(a: Any, b: Any) -> Any:
    """Compute the diagonal alone."""
    return ((a - a.mean()) * b.T).sum() / a.shape[0]


def mean_of_largest(x: Any) -> Any:
    """Find the largest."""
    return jax.lax.top_k(jnp.abs(x), 4)[0].mean(-1)


def diffusion_step(u: Any) -> Any:
    """Roll."""
    return u + 0.1 * (jnp.roll(u, -1) + jnp.roll(u, 1) - 2 * u)


def expert_of_token(x: Any, w: Any, choice: Any) -> Any:
    """Multiply by all experts and select."""
    x = x * jax.nn.sigmoid(x)
    chosen = jax.nn.one_hot(choice, len(w))
    return jnp.tanh(jnp.einsum("te,td,edf->tf", chosen, x, w))


def running_totals(x: Any) -> Any:
    """Scan by halves."""
    rows = jax.lax.associative_scan(jnp.add, x * x, axis=0)
    return jax.lax.associative_scan(jnp.add, rows, axis=1)


def best_candidate(scores: Any, values: Any) -> Any:
    """Find the largest."""
    scores = scores - scores.mean(-1, keepdims=True)
    return values[jnp.arange(values.shape[0]), scores.argmax(-1)]


def with_table(x: Any, table: Any) -> Any:
    """Take the table as an argument."""
    return jax.nn.softmax(jax.nn.relu(x) @ table.T)


def prefix_energies(x: Any) -> Any:
    """Sum blocks, then up."""
    x = x - x.mean()
    return jnp.cumsum((x * x).reshape(64, 64).sum(1))


def next_token(q: Any, k: Any, v: Any) -> Any:
    """Compute one row."""
    return jax.nn.softmax(q[-1] @ k.T / 8.0) @ v


def either_branch(x: Any, w: Any, flag: Any) -> Any:
    """Compute one side."""
    return jax.lax.cond(flag, lambda x: jnp.tanh(jnp.tanh(x @ w) @ w), lambda x: x * 0.5, x)


def gradient_of_blocks(x: Any, first: Any, second: Any) -> Any:
    """Keep the values of the blocks."""

    def loss(x: Any) -> Any:
        return (jnp.tanh(jnp.tanh(x @ first) @ second) ** 2).sum()

    return jax.grad(loss)(x)


def scaled_features(x: Any, w: Any) -> Any:
    """Scale in f32."""
    scale = jnp.linspace(0.5, 1.5, x.shape[1], dtype=jnp.float32)
    return jnp.tanh((x * scale) @ w)


def half_precision_layer(x: Any, w: Any) -> Any:
    """Accumulate in f32."""
    y = jnp.dot(x, w, preferred_element_type=jnp.float32)
    return jax.nn.relu(y).astype(jnp.bfloat16)


def weighted_positions(x: Any) -> Any:
    """Make positions in f32."""
    position = jnp.linspace(0.0, 1.0, x.shape[0], dtype=jnp.float32)
    return (x * jnp.exp(-3.0 * position)[:, None]).sum(0)


def filtered_signal(x: Any, h: Any) -> Any:
    """Transform real values."""
    spectrum = jnp.fft.rfft(x)
    return jnp.fft.irfft(spectrum * jnp.fft.rfft(h, x.shape[-1]), x.shape[-1])


def length_of_rows(x: Any) -> Any:
    """Sum in f32."""
    return x / jnp.sqrt((x * x).sum(-1, keepdims=True))


def entropy(logits: Any) -> Any:
    """Use the logarithm of the softmax."""
    scaled = logits * 200.0
    return -(jax.nn.softmax(scaled) * jax.nn.log_softmax(scaled)).sum(-1).mean()


def own_softmax(x: Any, w: Any) -> Any:
    """Subtract the largest value."""
    logits = x @ w
    e = jnp.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gradient_of_root(x: Any) -> Any:
    """Select the operand."""

    def loss(x: Any) -> Any:
        kept = jnp.where(x > 0, x, 1.0)
        return jnp.where(x > 0, jnp.sqrt(kept), 0.0).sum()

    return jax.grad(loss)(x)


def standardised(x: Any, w: Any) -> Any:
    """Add a small number."""
    hidden = jax.nn.relu(x @ w - 100.0)
    return (hidden - hidden.mean(0)) / (hidden.std(0) + 1e-6)


def energy_in_half(x: Any) -> Any:
    """Square in f32."""
    wide = x.astype(jnp.float16).astype(jnp.float32) * 300.0
    return (wide * wide).mean()


def deviation(x: Any) -> Any:
    """Subtract before squaring; the shift does not matter."""
    centred = x - x.mean(0)
    return jnp.sqrt((centred * centred).mean(0))


def count_of_pixels(x: Any) -> Any:
    """Count in f32."""
    return (x > -3.0).sum()


def flat_index(x: Any) -> Any:
    """Return row and column."""
    return jnp.arange(x.shape[0]) + 60000, x.argmax(-1)


def small_gains(x: Any) -> Any:
    """Use log1p."""
    return jnp.log1p(jnp.abs(x) * 1e-7) / 1e-7


def slope(x: Any) -> Any:
    """Take the exact derivative."""
    return jax.vmap(jax.grad(jnp.sin))(x)


def regression_loss(x: Any, w: Any, y: Any) -> Any:
    """Give both one shape."""
    return (((x @ w)[:, 0] - y) ** 2).mean()


def sums_by_class(values: Any, classes: Any) -> Any:
    """Add."""
    values = jnp.maximum(values, 0.0)
    return jnp.zeros(16).at[classes % 16].add(values) / (values.sum() + 1e-6)


def last_window(x: Any) -> Any:
    """Make the signal longer."""
    x = jnp.pad(x, (0, 16))
    starts = jnp.arange(8) * 32 + 20
    return jax.vmap(lambda s: jax.lax.dynamic_slice(x, (s,), (16,)))(starts).mean(1)


def shifted_tokens(table: Any, tokens: Any) -> Any:
    """Make the table longer."""
    table = jnp.pad(table, ((0, 3), (0, 0)))
    tokens = tokens % (table.shape[0] - 3)
    return jnp.take(table, tokens + 3, axis=0, mode="clip").sum(0)


def appended(x: Any, new: Any) -> Any:
    """Make the array longer."""
    return jnp.concatenate([x, jnp.tanh(new)])


OTHER_RESULTS: Final = frozenset({"features_by_step", "many_small_products", "flat_index"})
"""Slow programs whose fix changes the order of arguments or results."""


NOT_PRICED: Final = {
    "messages_of_edges": "strides are not priced: 2,130 to 201 us on XLA:CPU",
    "column_by_column": "strides are not priced: 11,996 to 4,577 us on XLA:CPU",
    "diffusion_step": "indices are not priced: 224 to 75 us by this compiler",
    "write_to_cache": "numpy arrays are not donated: 20,283 to 833 us on XLA:CPU",
    "running_totals": "sums are scans in this compiler: 1,871 to 1,155 us on XLA:CPU",
    "with_table": "the program loses 4 MiB, the run takes the same time",
}
"""Programs whose gain the cost model does not see, with the measured one."""


def arguments_of(name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of a fixed program."""
    if name == "with_table":
        return (*given, repeated._TABLE)
    if name == "many_small_products":
        return tuple([a.transpose(2, 0, 1).copy() for a in given])
    return given
