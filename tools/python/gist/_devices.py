"""What this machine can run modules on."""

from __future__ import annotations

from dataclasses import dataclass

from . import _runtime


@dataclass(frozen=True)
class Device:
    """A device that a session can be opened on, by its kind and index."""

    kind: str  #: "cpu", "hip" or "cuda"
    index: int
    name: str  #: as the machine calls itself
    architecture: str  #: "aarch64", "gfx942", "sm_90"
    driver: str  #: of a GPU


def devices() -> list[Device]:
    """The devices of this machine."""
    return [
        Device(kind, index, *facts)
        for kind in _runtime.device_kinds()
        for index, facts in enumerate(_runtime.list_devices(kind.encode()))
    ]
