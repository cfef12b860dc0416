"""More than one device, and the host: collectives, replicated runs, infeed, send and receive."""
