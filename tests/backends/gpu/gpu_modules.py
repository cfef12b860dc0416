"""Modules that the tests of the GPU backend compile, and the compilation."""

from functools import cache

from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.text.parser import parse_hlo

SOFTMAX = """HloModule softmax
largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
total { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[512,1000] parameter(0)
  lowest = f32[] constant(-inf)
  m = f32[512] reduce(x, lowest), dimensions={1}, to_apply=largest
  mb = f32[512,1000] broadcast(m), dimensions={0}
  d = f32[512,1000] subtract(x, mb)
  e = f32[512,1000] exponential(d)
  zero = f32[] constant(0)
  s = f32[512] reduce(e, zero), dimensions={1}, to_apply=total
  sb = f32[512,1000] broadcast(s), dimensions={0}
  ROOT r = f32[512,1000] divide(e, sb)
}
"""

LOOP = """HloModule loop
body {
  state = (s32[], f32[64,8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  table = f32[64,8] get-tuple-element(state), index=1
  row = f32[8] get-tuple-element(state), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  doubled = f32[8] add(row, row)
  line = f32[1,8] reshape(doubled)
  zero = s32[] constant(0)
  written = f32[64,8] dynamic-update-slice(table, line, i, zero)
  ROOT out = (s32[], f32[64,8], f32[8]) tuple(next, written, doubled)
}
condition {
  state = (s32[], f32[64,8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(64)
  ROOT more = pred[] compare(i, limit), direction=LT
}
ENTRY main {
  table = f32[64,8] parameter(0)
  row = f32[8] parameter(1)
  start = s32[] parameter(2)
  init = (s32[], f32[64,8], f32[8]) tuple(start, table, row)
  ROOT w = (s32[], f32[64,8], f32[8]) while(init), condition=condition, body=body
}
"""

DOT = """HloModule dots
ENTRY main {
  a = f32[64,32] parameter(0)
  b = f32[32,48] parameter(1)
  bias = f32[48] parameter(2)
  c = f32[64,48] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  wide = f32[64,48] broadcast(bias), dimensions={1}
  ROOT r = f32[64,48] add(c, wide)
}
"""

SORT = """HloModule sorting
order { a = f32[] parameter(0) b = f32[] parameter(1) ROOT lt = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[100] parameter(0)
  y = f32[100] negate(x)
  s = f32[100] sort(y), dimensions={0}, to_apply=order
  ROOT r = f32[100] exponential(s)
}
"""

TWO_REPLICAS = """HloModule replicas, replica_count=2
total { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[100] parameter(0)
  y = f32[100] negate(x)
  s = f32[100] all-reduce(y), replica_groups={{0,1}}, to_apply=total
  ROOT r = f32[100] exponential(s)
}
"""

BRANCHES = """HloModule branches
left { p = f32[16] parameter(0) ROOT n = f32[16] negate(p) }
right { p = f32[16] parameter(0) ROOT t = f32[16] tanh(p) }
ENTRY main {
  c = pred[] parameter(0)
  x = f32[16] parameter(1)
  ROOT r = f32[16] conditional(c, x, x), true_computation=left, false_computation=right
}
"""


@cache
def compiled(text, architecture="sm_90", passes="default", math="xla"):
    """Return the result of compiling a module for a GPU.

    Tests share it: they must not change it.
    """
    compiler = GpuCompiler()
    options = CompileOptions(
        passes=passes, backend_options={"architecture": architecture, "math": math}
    )
    return compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
