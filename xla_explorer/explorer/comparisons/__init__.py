"""One beside another: sessions, fusions, programs, backends, another compiler, sweeps and searches."""
