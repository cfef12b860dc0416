"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""

# %% nb16.trip_count
TURNED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE", "EQ": "EQ"}


def constant(i):
    return int(i.literal.scalar) if i.opcode.name == "constant" else None


def is_counter(i):
    return i.opcode.name == "get-tuple-element" and i.attribute("index") == 0


def trip_count(loop):
    condition, body = loop.called
    first, second = condition.root.operands
    direction = condition.root.attribute("direction")
    if is_counter(second):
        first, second, direction = second, first, TURNED[direction]
    start, limit = constant(loop.operands[0].operands[0]), constant(second)
    update = body.root.operands[0]
    if not is_counter(first) or start is None or limit is None or update.opcode.name not in ("add", "subtract"):
        return None
    a, b = update.operands
    if update.opcode.name == "add" and is_counter(b):
        a, b = b, a
    step = constant(b)
    if not is_counter(a) or step is None:
        return None
    if update.opcode.name == "subtract":
        step = -step
    if direction in ("GT", "GE"):
        start, step, limit, direction = -start, -step, -limit, TURNED[direction]
    if direction == "LE":
        limit, direction = limit + 1, "LT"
    if direction == "NE":
        if start == limit:
            return 0
        return (limit - start) // step if step and (limit - start) % step == 0 and (limit - start) // step > 0 else None
    if start >= limit:
        return 0
    return -((start - limit) // step) if step > 0 else None
# %% nb16.invariant
def invariant(loop):
    body = loop.called[1]
    same, names = set(), set()
    for i in body.post_order():
        name = i.opcode.name
        if name == "get-tuple-element":
            handed_on = body.root.operands[i.attribute("index")]
            if handed_on.opcode.name == name and handed_on.attribute("index") == i.attribute("index"):
                same.add(i)
        elif name == "constant":
            same.add(i)
        elif name not in ("parameter", "tuple") and not i.opcode.side_effect and all(o in same for o in i.operands):
            same.add(i)
            names.add(i.name)
    return names
# %% nb16.running_maximum
def running_maximum(n):
    state = f"(s32[], f32[], f32[{n}], f32[{n}])"
    return f"""
HloModule running_maximum
body {{
  state = {state} parameter(0)
  k = s32[] get-tuple-element(state), index=0
  best = f32[] get-tuple-element(state), index=1
  x = f32[{n}] get-tuple-element(state), index=2
  y = f32[{n}] get-tuple-element(state), index=3
  read = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={{1}}
  element = f32[] reshape(read)
  larger = f32[] maximum(best, element)
  row = f32[1] reshape(larger)
  written = f32[{n}] dynamic-update-slice(y, row, k)
  one = s32[] constant(1)
  next = s32[] add(k, one)
  ROOT again = {state} tuple(next, larger, x, written)
}}
condition {{
  state = {state} parameter(0)
  k = s32[] get-tuple-element(state), index=0
  n = s32[] constant({n})
  ROOT more = pred[] compare(k, n), direction=LT
}}
ENTRY main {{
  x = f32[{n}] parameter(0)
  zero = s32[] constant(0)
  low = f32[] constant(-inf)
  nothing = f32[] constant(0)
  y = f32[{n}] broadcast(nothing), dimensions={{}}
  start = {state} tuple(zero, low, x, y)
  end = {state} while(start), condition=condition, body=body
  ROOT result = f32[{n}] get-tuple-element(end), index=3
}}"""
