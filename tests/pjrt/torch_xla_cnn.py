"""A small CNN in the manner of torch_xla's documentation.

`python torch_xla_cnn.py [steps]` prints the losses on the device and on PyTorch's CPU.

Environment: PJRT_DEVICE=XLA_EXPLORER, and in XLA_EXPLORER_PLUGIN the file that `xla-explorer
pjrt-plugin` writes.
"""

from __future__ import annotations

import json
import os
import sys

import torch
import torch_xla
from torch import nn
from torch_xla.experimental import plugins


class Plugin(plugins.DevicePlugin):
    """A device's description for torch_xla."""

    def library_path(self) -> str:
        return os.environ["XLA_EXPLORER_PLUGIN"]

    def physical_chip_count(self) -> int:
        return 1


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 4 * 4, 10),
    )  # fmt: skip


def losses(device: torch.device, steps: int) -> list[float]:
    """Of so many steps of SGD with momentum on random images."""
    network = model().to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(1)
    images = torch.rand(32, 1, 16, 16, generator=generator).to(device)
    labels = torch.randint(0, 10, (32,), generator=generator).to(device)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        found.append(loss.item())
    return found


def main(steps: int) -> None:
    """Print both rows as JSON, then how many programs xla_explorer compiled."""
    plugins.use_dynamic_plugins()
    plugins.register_plugin("XLA_EXPLORER", Plugin())
    print(json.dumps([losses(torch_xla.device(), steps), losses(torch.device("cpu"), steps)]))
    from xla_explorer.pjrt import sessions  # torch_xla has loaded the plugin by now

    print(
        sessions.compiled,
        [session.source.name for session in sessions][-1],
        sum(bool(s.executable.program.evaluator_steps) for s in sessions),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
