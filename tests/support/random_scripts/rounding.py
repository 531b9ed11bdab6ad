"""Whether a script's result hangs on rounding: where two numbers are equal, or nearly, the last digit decides."""

import numpy as np

from random_scripts.compare import Abandoned, Difference, Pair, near

IN_DOUBLE = {
    "float32": "float64", "float16": "float64", "complex64": "complex128", ".float()": ".double()", ".half()": ".double()",
}  # fmt: skip


def hangs_on_rounding(lines, modules):
    """Whether a difference is gone with the same digits in all that has a name, or with types that have more of them."""
    return agree_in_same_digits(lines, modules) or agree_in_double(lines, modules)


def agree_in_double(lines, modules):
    """Whether two modules agree to the end of a script whose numbers are all in double."""
    pair = Pair(*modules)
    try:
        for line in lines:
            for single, double in IN_DOUBLE.items():
                line = line.replace(single, double)
            pair.run(line)
        pair.look()
    except (Difference, Abandoned):
        return False
    finally:
        pair.close()
    return True


def agree_in_same_digits(lines, modules):
    """Whether two modules agree where, after each line, the numbers of the second take the place of the first's."""
    pair = Pair(*modules)
    try:
        for line in lines:
            pair.run(line)
            for name, theirs in pair.theirs.tensors.items():
                take_digits(pair.ours.tensors.get(name), theirs, pair.tolerance)
        pair.look()
    except Difference:
        return False
    except Abandoned:
        pass
    finally:
        pair.close()
    return True


def take_digits(x, other, tolerance):
    """Write the numbers of another module's tensor into the memory of one, where they are nearly its own."""
    if x is None or x.shape != other.shape or not (x.is_floating_point() or x.is_complex()):
        return
    values, wanted = x.detach().tolist(), other.detach().tolist()
    if values != wanted and near(values, wanted, tolerance):
        np.asarray(x.detach())[...] = wanted
