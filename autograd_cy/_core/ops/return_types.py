"""Tuples with named fields, which operations with several results return."""

from collections import namedtuple


def _result(name, fields):
    """A type of tuples, shown as PyTorch shows its own."""

    def show(self):
        parts = [f"{field}={value!r}" for field, value in self._asdict().items()]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": show, "__module__": __name__})


max = _result("max", "values indices")
min = _result("min", "values indices")
topk = _result("topk", "values indices")
