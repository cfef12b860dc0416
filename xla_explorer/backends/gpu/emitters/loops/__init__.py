"""One result element after the other, moved by vectors: elementwise loops, copies, transpositions through shared memory."""
