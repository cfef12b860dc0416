"""Contents of a product's kernel on a GPU, and the reasons for what stays outside."""

import xla_explorer as xe
from xla_explorer.hlo.text.parser import parse_hlo

HEAD = """HloModule m
sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT t = f32[] add(p, q) }
ENTRY e { a = bf16[64,64] parameter(0) b = bf16[64,64] parameter(1) c = bf16[64] parameter(2) s = bf16[64,64] parameter(3)
  d = bf16[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  cb = bf16[64,64] broadcast(c), dimensions={1}
"""


def optimised(body, **options):
    session = xe.compile(parse_hlo(HEAD + body + "}"), backend="gpu", **options)
    return session, [
        i
        for i in session.passes.module.entry.instructions.values()
        if i.opcode.name not in ("parameter", "constant")
    ]


def refusals(session):
    events = session.passes.journal.events
    return [e.reason.code for e in events if e.by == "dot-epilogue-fusion" and e.reason is not None]


def computed(fusion):
    return sorted(
        i.opcode.name
        for i in fusion.called[0].instructions.values()
        if i.opcode.name != "parameter"
    )


def test_bias_activation_residual_and_conversion():
    _, (fusion,) = optimised("""z = bf16[] constant(0)  zb = bf16[64,64] broadcast(z), dimensions={}
      x = bf16[64,64] add(d, cb)  r = bf16[64,64] maximum(x, zb)  y = bf16[64,64] multiply(r, s)  ROOT o = f32[64,64] convert(y)""")
    assert fusion.attributes.get("kind") == "kOutput"
    assert computed(fusion) == [
        "add",
        "broadcast",
        "broadcast",
        "constant",
        "convert",
        "dot",
        "maximum",
        "multiply",
    ]


def test_a_bias_that_is_a_constant_is_read_where_it_lies():
    values = ",".join([str(k * k) for k in range(64)])  # no iota
    _, (fusion,) = (
        optimised(f"""k = bf16[64] constant({{{values}}})  kb = bf16[64,64] broadcast(k), dimensions={{1}}
      ROOT x = bf16[64,64] add(d, kb)""")
    )
    assert computed(fusion) == ["add", "broadcast", "dot"] and "constant" in {
        o.opcode.name for o in fusion.operands
    }


def test_what_only_a_loop_reads_stays_with_the_loop():
    session, found = (
        optimised("""x = bf16[64,64] add(d, cb)  w = f32[64,64] convert(x)  z = f32[] constant(0)
      ROOT o = f32[64] reduce(w, z), dimensions={1}, to_apply=sum""")
    )
    assert any(i.opcode.name == "dot" for i in found)
    assert refusals(session) == ["result-never-stored"]


def test_a_product_that_others_read_too_is_stored():
    _, found = optimised(
        "x = bf16[64,64] add(d, cb)  ROOT o = (bf16[64,64], bf16[64,64]) tuple(d, x)"
    )
    assert any(i.opcode.name == "dot" for i in found)


def test_a_value_read_twice_within_the_chain_is_no_hindrance():
    _, (fusion,) = optimised(
        "x = bf16[64,64] add(d, cb)  t = bf16[64,64] tanh(x)  ROOT o = bf16[64,64] multiply(x, t)"
    )
    assert computed(fusion) == ["add", "broadcast", "dot", "multiply", "tanh"]


def test_no_tiles_no_epilogue():
    text = HEAD.replace("bf16[64,64] parameter(0)", "bf16[4,64] parameter(0)").replace(
        "d = bf16[64,64]", "d = bf16[4,64]"
    )
    text = text.replace("cb = bf16[64,64]", "cb = bf16[4,64]") + "ROOT o = bf16[4,64] add(d, cb) }"
    session = xe.compile(parse_hlo(text), backend="gpu")
    assert refusals(session) == ["no-register-tile"]
