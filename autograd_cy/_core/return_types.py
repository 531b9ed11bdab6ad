"""Tuples with named fields, which operations with several results return."""

from collections import namedtuple


def _result(name, fields):
    """A type of tuples, shown as PyTorch shows its own."""

    def show(self):
        return f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self)) + ")"

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": show, "__module__": __name__})


max = _result("max", "values indices")
min = _result("min", "values indices")
