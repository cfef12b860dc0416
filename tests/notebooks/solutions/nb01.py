"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb01.quiz
answers = {
    "elements of f32[8,256,64]": 131072,
    "bytes of bf16[10,3]": 60,
    "rank of f32[]": 0,
    "fastest dimension of f32[2,3,5]{0,2,1}": 0,
    "bytes between [0,0] and [1,0] in f32[4,6]{1,0}": 24,
    "bytes between [0,0] and [1,0] in f32[4,6]{0,1}": 4,
    "arrays in ((f32[2], s32[]), pred[3])": 3,
}
# %% nb01.strides
def strides(dimensions, minor_to_major, element_bytes):
    result = [0] * len(dimensions)
    step = element_bytes
    for dimension in minor_to_major:
        result[dimension] = step
        step *= dimensions[dimension]
    return tuple(result)
# %% nb01.leaves
def leaves(shape):
    if not shape.is_tuple:
        return [((), shape)]
    return [((number, *path), leaf) for number, part in enumerate(shape.tuple_shapes) for path, leaf in leaves(part)]
