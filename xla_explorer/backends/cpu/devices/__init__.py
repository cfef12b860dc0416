"""A program on several virtual devices of this CPU: a thread a device, with shared memory."""
