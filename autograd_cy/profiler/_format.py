"""Times, shares and sizes as text, with PyTorch's digits and units."""


def format_time(time_us: float) -> str:
    """A time in us with the unit that suits it: 1.500ms."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.3f}s"
    if time_us >= 1e3:
        return f"{time_us / 1e3:.3f}ms"
    return f"{time_us:.3f}us"


def format_time_in(time_us: float, unit: str | None) -> str:
    """A time in the requested unit, or in a suitable one."""
    if unit not in ("s", "ms", "us"):
        return format_time(time_us)
    return f"{time_us / {'s': 1e6, 'ms': 1e3, 'us': 1.0}[unit]:.3f}{unit}"


def format_share(time_us: float, total_us: float) -> str:
    """A part of a time in percent."""
    return f"{time_us * 100.0 / total_us:.2f}%" if total_us else "NaN"


def format_memory(nbytes: int) -> str:
    """A number of bytes in the unit that suits it: 64.00 KB."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def scale_of_flops(smallest: int) -> tuple[float, str]:
    """The divisor and the unit for numbers of operations, from the smallest one."""
    units = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
    k = min((len(str(smallest)) - 1) // 3, len(units) - 1)
    return 1000.0**k, units[k]
