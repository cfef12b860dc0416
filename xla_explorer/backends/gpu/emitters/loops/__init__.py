"""Elements moved several at once: pieces of rows, and transpositions through shared memory of what is no loop nest (`nests/`) yet."""
