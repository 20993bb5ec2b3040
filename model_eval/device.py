"""Where networks run."""

import torch

from stimuli.errors import InputError


def find_device(name: str) -> str:
    """Return the device of that name; for ``auto`` the best that is here.

    Raises
    ------
    InputError
        It isn't on this machine.
    """
    is_here = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return next(device for device, here in is_here.items() if here)
    if not is_here.get(name.partition(":")[0], False):
        found = ", ".join(device for device, here in is_here.items() if here)
        raise InputError(f"device {name!r} isn't here; this machine has {found}, or use 'auto'")
    return name
