"""The warnings of ``torch.cuda.amp`` and ``torch.cpu.amp``, whose names are deprecated (facade)."""

import warnings


def warn_of_older_name(device: str, name: str) -> None:
    """warn_of_older_name(device, name): name the call of torch.amp that replaces this one, at the caller's caller."""
    arguments = f"args..., device_type='{device}'" if name.startswith("custom") else f"'{device}', args..."
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}({arguments})` instead.",
        FutureWarning,
        stacklevel=3,
    )
