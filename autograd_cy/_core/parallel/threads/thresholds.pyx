"""Thresholds: sizes at which another algorithm takes over (knows nothing).

threads.pxd describes them. They were found by measuring. Only tests change them, so that small arrays take the paths of large
ones (`tests/support/crossings.py`). A new threshold belongs here, unless it is the length of an array on the stack. Loops read
them from one struct: two loads from the cache, too few to show in a benchmark.
"""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

UNLIMITED = 1 << 62

# In the order of the struct: the name, the default, the maximum (arrays on the stack impose limits).
TABLE = (
    ("large_bytes", 1 << 16, UNLIMITED),
    ("spare_bytes", 1 << 10, UNLIMITED),
    ("few", 1 << 10, UNLIMITED),
    ("flat_run", 1 << 12, UNLIMITED),
    ("shared_work", 1 << 15, UNLIMITED),
    ("shared_run", 64, 1 << 20),
    ("chunk", 1 << 12, 1 << 16),
    ("unlocked_work", 1 << 17, UNLIMITED),
    ("strided_run", 64, 64),
    ("copied_run", 1 << 10, UNLIMITED),
    ("partial_work", 1 << 15, UNLIMITED),
    ("partial_rows", 64, UNLIMITED),
    ("deep_sum", 512, UNLIMITED),
    ("fused_work", 1 << 12, UNLIMITED),
    ("fused_run", 128, UNLIMITED),
    ("long_choice", 1 << 11, UNLIMITED),
    ("short_choice", 16, UNLIMITED),
    ("long_row", 64, 1 << 10),
    ("blas_work", 1 << 10, UNLIMITED),
    ("unlocked_product", 1 << 18, UNLIMITED),
    ("blas_alone", 1 << 18, UNLIMITED),
    ("small_product", 1 << 14, UNLIMITED),
    ("panel_work", 1 << 17, UNLIMITED),
    ("panel_side", 16, UNLIMITED),
)
NAMES = tuple([name for name, _, _ in TABLE])

cdef npy_intp *values = <npy_intp *> &thresholds


def get_thresholds():
    """get_thresholds() -> dict: the value of each threshold."""
    return {name: values[k] for k, name in enumerate(NAMES)}


def set_threshold(str name, value):
    """set_threshold(name, value) -> int: set one (None: its maximum), and return the old value.

    For tests, while no other thread computes. ValueError if the value is out of range.
    """
    cdef int k = NAMES.index(name)
    cdef npy_intp before = values[k], most = TABLE[k][2]
    cdef object wanted = most if value is None else value
    if not 1 <= wanted <= most:
        raise ValueError(f"set_threshold(): expected {name} from 1 to {most}, got {wanted}")
    values[k] = wanted
    return before


def _start():
    for k in range(len(TABLE)):
        values[k] = TABLE[k][1]


if sizeof(Thresholds) != len(TABLE) * sizeof(npy_intp):
    raise ImportError("autograd_cy._core.parallel.threads: the table does not fit the struct")
_start()
