"""Values in the memory of the host: annotations, copies and memory spaces."""
