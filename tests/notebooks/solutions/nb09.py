"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb09.emit
BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}


def emit(computation):
    parameters = computation.parameters()
    names, lines = {}, []
    for i in computation.post_order():
        register = f"%v{len(names)}"
        names[i] = register
        operands = [names[o] for o in i.operands]
        if i.opcode.name == "parameter":
            lines.append(f"%a{i.parameter_number} = getelementptr float, ptr %x{i.parameter_number}, i64 %i")
            lines.append(f"{register} = load float, ptr %a{i.parameter_number}")
        elif i.opcode.name == "negate":
            lines.append(f"{register} = fneg float {operands[0]}")
        elif i.opcode.name == "maximum":
            lines.append(f"{register} = call float @llvm.maximum.f32(float {operands[0]}, float {operands[1]})")
        else:
            lines.append(f"{register} = {BINARY[i.opcode.name]} float {operands[0]}, {operands[1]}")
    body = "\n  ".join(lines)
    pointers = ", ".join(f"ptr %x{k}" for k in range(len(parameters)))
    return f"""
declare float @llvm.maximum.f32(float, float)
define void @kernel({pointers}, ptr %out, i64 %n) {{
entry:
  %none = icmp sle i64 %n, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  {body}
  %place = getelementptr float, ptr %out, i64 %i
  store float {names[computation.root]}, ptr %place
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
# %% nb09.sum
sum_ir = """
define void @sum(ptr %x0, ptr %out, i64 %n) {
entry:
  %none = icmp sle i64 %n, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %total = phi float [ 0.0, %entry ], [ %longer, %loop ]
  %address = getelementptr float, ptr %x0, i64 %i
  %x = load float, ptr %address
  %longer = fadd reassoc float %total, %x
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = phi float [ 0.0, %entry ], [ %longer, %loop ]
  store float %result, ptr %out
  ret void
}
"""
# %% nb09.lanes
ONES = ", ".join(["float 1.0"] * 8)
lanes_ir = f"""
define void @lanes(ptr %x0, ptr %out, i64 %n) {{
entry:
  %whole = and i64 %n, -8
  %any = icmp sgt i64 %whole, 0
  br i1 %any, label %vector, label %between
vector:
  %i = phi i64 [ 0, %entry ], [ %next, %vector ]
  %from = getelementptr float, ptr %x0, i64 %i
  %v = load <8 x float>, ptr %from, align 4
  %square = fmul <8 x float> %v, %v
  %sum = fadd <8 x float> %square, <{ONES}>
  %to = getelementptr float, ptr %out, i64 %i
  store <8 x float> %sum, ptr %to, align 4
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %whole
  br i1 %more, label %vector, label %between
between:
  %left = icmp slt i64 %whole, %n
  br i1 %left, label %tail, label %done
tail:
  %k = phi i64 [ %whole, %between ], [ %after, %tail ]
  %from1 = getelementptr float, ptr %x0, i64 %k
  %v1 = load float, ptr %from1
  %square1 = fmul float %v1, %v1
  %sum1 = fadd float %square1, 1.0
  %to1 = getelementptr float, ptr %out, i64 %k
  store float %sum1, ptr %to1
  %after = add i64 %k, 1
  %again = icmp slt i64 %after, %n
  br i1 %again, label %tail, label %done
done:
  ret void
}}
"""
