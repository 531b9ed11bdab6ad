"""Whether a script's result hangs on rounding: where two numbers are equal, or nearly, the last digit decides."""

import re

from random_scripts.compare import near
from random_scripts.session import Session

CONSTANT = re.compile(r"torch\.tensor\((.*?), dtype=torch\.(float16|float32|float64|complex64|complex128)")
EPSILON = {"float16": 1e-3, "float32": 1.2e-7, "complex64": 1.2e-7, "float64": 2.3e-16, "complex128": 2.3e-16}


def depends_on_rounding(lines, module, tolerance, kind, name):
    """Whether the module itself comes to another result (a field of a tensor, or the log) if each constant's last digit
    changes."""
    result = result_of(lines, module, kind, name)
    changed = [result_of([moved(line, sign) for line in lines], module, kind, name) for sign in (1, -1)]
    return not all(near(other, result, tolerance) for other in changed)


def moved(line, sign):
    """The line with constants that are one in the last digit further from 0 or nearer to it."""

    def again(found):
        factor = 1 + sign * EPSILON[found[2]]
        values = re.sub(r"\d+\.\d+", lambda number: repr(float(number[0]) * factor), found[1])
        return f"torch.tensor({values}, dtype=torch.{found[2]}"

    return CONSTANT.sub(again, line)


def result_of(lines, module, kind, name):
    session = Session(module)
    for line in lines:
        session.run(line)
    found = list(session.log) if kind == "log" else session.look().get(name, {}).get(kind)
    session.close()
    return found
