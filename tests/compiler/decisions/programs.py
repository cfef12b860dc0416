"""A module that makes most kinds of decision, and the compiles that make them."""

from __future__ import annotations

MANY = """HloModule many, entry_computation_layout={(f32[64,64]{0,1}, f32[64,64]{1,0})->(f32[64,64]{1,0}, f32[4]{0}, f32[64,64]{1,0}, f32[64,64]{1,0}, f32[64,64]{1,0}, f32[64,64]{1,0})}
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
body { t = (s32[], f32[64,64]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
 v = f32[64,64] get-tuple-element(t), index=1
 k = s32[] constant(1)
 j = s32[] add(i, k)
 w = f32[64,64] multiply(v, v)
 ROOT o = (s32[], f32[64,64]) tuple(j, w) }
condition { t2 = (s32[], f32[64,64]) parameter(0)
 i2 = s32[] get-tuple-element(t2), index=0
 n = s32[] constant(5)
 ROOT lt = pred[] compare(i2, n), direction=LT }
twice { p = f32[64,64] parameter(0)
 ROOT u = f32[64,64] add(p, p) }
ENTRY e { x = f32[64,64]{0,1} parameter(0)
 y = f32[64,64] parameter(1)
 turned = f32[64,64] transpose(y), dimensions={1,0}
 d = f32[64,64] dot(x, turned), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ex = f32[64,64] exponential(d)
 z = f32[] constant(0)
 zeros = f32[64,64] broadcast(z), dimensions={}
 plus = f32[64,64] add(ex, zeros)
 r = f32[64] reduce(plus, z), dimensions={1}, to_apply=sum
 b = f32[64,64] broadcast(r), dimensions={0}
 q = f32[64,64] divide(ex, b)
 c = f32[64,64] call(q), to_apply=twice
 zero = s32[] constant(0)
 start = (s32[], f32[64,64]) tuple(zero, c)
 loop = (s32[], f32[64,64]) while(start), condition=condition, body=body
 end = f32[64,64] get-tuple-element(loop), index=1
 k1 = f32[4] constant({1,2,3,4})
 k2 = f32[4] constant({5,6,7,8})
 folded = f32[4] multiply(k1, k2)
 ch = f32[64,64] cholesky(x), lower=true
 neg = f32[64,64] negate(ch)
 th = f32[64,64] tanh(y)
 cs = f32[64,64] cosine(y)
 table = f32[64] iota(), iota_dimension=0
 wide = f32[64,64] broadcast(table), dimensions={1}
 added = f32[64,64] add(wide, y)
 ROOT out = (f32[64,64], f32[4], f32[64,64], f32[64,64], f32[64,64], f32[64,64]) tuple(end, folded, neg, th, cs, added) }
"""
COMPILES = {
    "cpu": {"backend": "cpu", "threads": 2},
    "cpu, XLA's policy": {"backend": "cpu", "threads": 2, "fusion_policy": "xla"},
    "gpu": {"backend": "gpu"},
    "interpreter": {
        "backend": "interpreter",
        "passes": "call-inliner,algsimp,constant_folding,fusion,dce",
    },
}
