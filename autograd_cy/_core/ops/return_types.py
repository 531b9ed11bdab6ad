"""Tuples with named fields, which operations with several results return."""

from collections import namedtuple


def _result(name, fields):
    """A type of tuples, shown as PyTorch shows its own."""

    def show(self):
        parts = [f"{field}={value!r}" for field, value in self._asdict().items()]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": show, "__module__": __name__})


aminmax = _result("aminmax", "min max")
cummax = _result("cummax", "values indices")
cummin = _result("cummin", "values indices")
histogram = _result("histogram", "hist bin_edges")
histogramdd = _result("histogramdd", "hist bin_edges")
kthvalue = _result("kthvalue", "values indices")
max = _result("max", "values indices")
median = _result("median", "values indices")
min = _result("min", "values indices")
mode = _result("mode", "values indices")
nanmedian = _result("nanmedian", "values indices")
sort = _result("sort", "values indices")
topk = _result("topk", "values indices")
