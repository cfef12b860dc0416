"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821
# %% nb06.path
def other_path(producer, consumer):
    stack = [[consumer]]
    seen = set()
    while stack:
        path = stack.pop()
        first = path[0]
        for before in (*first.operands, *first.control_predecessors):
            if before is producer:
                if first is not consumer:
                    return [producer, *path]
            elif before not in seen:
                seen.add(before)
                stack.append([before, *path])
    return None
# %% nb06.legality
def may_merge(producer, consumer):
    if producer not in consumer.operands:
        return xe.Reason("not-an-operand", f"%{consumer.name} does not read %{producer.name}")
    for i in (producer, consumer):
        if i.opcode.name in NO_LOOP:
            return xe.Reason("no-loop", f"%{i.name} is a {i.opcode.name}")
        if i.opcode.side_effect:
            return xe.Reason("side-effect", f"%{i.name} has an effect")
        if i.opcode.name in OWN_KERNEL:
            return xe.Reason("own-kernel", f"%{i.name} is a {i.opcode.name}")
    if producer.opcode.name == "reduce":
        return xe.Reason("reduce-is-root-only", f"%{producer.name} is a reduce")
    if producer in consumer.control_predecessors:
        return xe.Reason("control-dependency", f"%{consumer.name} must wait for %{producer.name}")
    path = other_path(producer, consumer)
    if path is not None:
        return xe.Reason("would-create-cycle", " -> ".join(i.name for i in path))
    return None
