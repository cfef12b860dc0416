"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821
# %% nb07.plan
def plan(computation):
    stored, needed = default_plan(computation), required(computation)
    free_to_choose = [i for i in computation.post_order() if not is_given(i) and i not in needed]
    while True:
        best, least = None, plan_cost(computation, stored).bytes
        for i in free_to_choose:
            other = stored ^ {i}
            if plan_cost(computation, other).bytes < least and plan_refusal(computation, other) is None:
                best, least = other, plan_cost(computation, other).bytes
        if best is None:
            return stored
        stored = best
# %% nb07.cheaper
def cheaper(producer, processor):
    size, operations = producer.elements * producer.element_bytes, producer.elements * producer.work
    computing = operations / processor.peak
    stored = processor.launch + (producer.inputs + size * (1 + producer.readers)) / processor.bandwidth + computing
    return stored, producer.readers * (producer.inputs / processor.bandwidth + computing)
