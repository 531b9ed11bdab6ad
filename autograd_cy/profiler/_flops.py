"""PyTorch's estimates of the floating-point operations of an operation."""

import math
from collections.abc import Callable, Sequence

Shape = Sequence[int]


def _product(shapes: Sequence[Shape]) -> int:
    """2 m n k for each matrix of a batch: a multiplication and an addition for each term."""
    a, b = shapes[0], shapes[1]
    if not a or not b:
        return 0
    columns = b[-1] if len(b) > 1 else 1
    batch = math.prod(b[:-2]) if len(b) > len(a) or math.prod(b[:-2]) > math.prod(a[:-2]) else math.prod(a[:-2])
    rows = a[-2] if len(a) > 1 else 1
    return 2 * batch * rows * a[-1] * columns


def _addmm(shapes: Sequence[Shape]) -> int:
    return _product(shapes[1:])


def _linear(shapes: Sequence[Shape]) -> int:
    return 2 * math.prod(shapes[0]) * (shapes[1][0] if len(shapes[1]) > 1 else 1)


def _elements(shapes: Sequence[Shape]) -> int:
    return math.prod(shapes[0])


_FORMULAS: dict[str, tuple[int, Callable[[Sequence[Shape]], int]]] = {  # with how many tensors it takes
    "aten::mm": (2, _product),
    "aten::bmm": (2, _product),
    "aten::matmul": (2, _product),
    "aten::linear": (2, _linear),
    "aten::addmm": (3, _addmm),
    "aten::baddbmm": (3, _addmm),
    "aten::add": (1, _elements),
    "aten::mul": (1, _elements),
}
WHOLES = ("aten::matmul", "aten::linear", "aten::addmm", "aten::baddbmm")  # counted unless their parts are


def flops_of(name: str, shapes: Sequence[Shape]) -> int:
    """The operations of a call with operands of these shapes; 0 if there is no formula."""
    n, formula = _FORMULAS.get(name, (0, None))
    return formula(shapes) if formula is not None and len(shapes) >= n else 0
