"""What two modules make of a script: where they differ."""

import cmath
import re

from random_scripts.differences import IN_PART, ON_PURPOSE, OTHERWISE, PRECISION, UNSEEN
from random_scripts.excuses import excuse_for_error, excuse_for_field, excuse_for_line, shares_gradient
from random_scripts.session import Session
from random_scripts.writer import overlap

HALF = 1e-2  # a tolerance from which on the type is float16


class Difference(Exception):
    """Where two runs part: `kind` says at what, for finding the same again, `name` at which tensor."""

    def __init__(self, kind, text, name=""):
        super().__init__(f"{kind}: {text}")
        self.kind, self.name = kind, name


class Abandoned(Exception):
    """From here on the two go different ways on purpose."""


class Pair:
    """The same script on two modules, the second of which is right."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = Session(ours), Session(theirs)
        self.lines = []
        self.tolerance = 1e-8
        self.unseen = set()  # fields that are not compared
        self.shares_gradients = False  # whether one of PyTorch's was a part of another one

    def run(self, line):
        self.lines.append(line)
        self.tolerate(line)
        for word, fields in UNSEEN.items():
            if re.search(word, line):
                self.unseen |= fields
        if any(re.search(pattern, line) for pattern in OTHERWISE) or self.has_unsafe_out(line):
            raise Abandoned(line)
        ours, theirs = self.ours.run(line), self.theirs.run(line)
        self.tolerate({str(t.dtype).removeprefix("torch.") for t in self.theirs.tensors.values()})
        try:
            compare_errors(ours, theirs)
        except Difference as found:
            give_up_if(excuse_for_error(self, str(found)), found)
            raise
        give_up_if(excuse_for_line(self, line, theirs))
        if "backward" in line:  # PyTorch crashes if it is asked what are leaves in some scripts
            leaves = [name for name, t in self.ours.tensors.items() if t._base is None and t.is_leaf]
            self.shares_gradients |= any(shares_gradient(self.theirs.tensors[name]) for name in leaves)
        self.same("log", self.ours.log, self.theirs.log)
        if len(self.ours.log) > 200:
            self.ours.log.clear(), self.theirs.log.clear()

    def tolerate(self, words):
        """Be as exact from here on as a line, or the types of the tensors, let expect."""
        self.tolerance = max([self.tolerance, *(bound for word, bound in PRECISION.items() if word in words)])

    def has_unsafe_out(self, line):
        """Whether an out= has no elements and a base, of which PyTorch lets it have those that come next, or shares memory
        with another operand, which PyTorch reads when it is written."""
        found = re.search(r"\((.*), out=(\w+)", line)
        out = self.ours.tensors.get(found[2]) if found else None
        if out is None:
            return False
        operands = [t for name, t in self.ours.tensors.items() if re.search(rf"\b{re.escape(name)}\b", found[1])]
        return (out.numel() == 0 and out._base is not None) or any(t is not out and overlap(t, out) for t in operands)

    def look(self):
        ours, theirs = self.ours.look(), self.theirs.look()
        if ours.keys() != theirs.keys():
            raise Difference("names", f"{sorted(ours)} and {sorted(theirs)}")
        for name in theirs:
            if "?" in (theirs[name]["is_leaf"], theirs[name]["node"]):
                continue  # an assertion within PyTorch
            for field, value in theirs[name].items():
                self.same(field, ours[name][field], value, name)

    def same(self, field, found, expected, name=""):
        if field in self.unseen or expected == "?":  # a base without a name: PyTorch's gradients are views now and then
            return
        if field in ("dtype", "log") and "complex32" in str(expected):
            raise Abandoned
        if field in ("grad", "tangent") and expected == "RuntimeError":
            return
        if field == "node" and expected is not None and expected[0].startswith("ViewAs"):
            return  # what of a view is AsStridedBackward0 here
        if found != expected and not near(found, expected, self.tolerance):
            give_up_if(excuse_for_field(self, field, found, expected, name))
            raise Difference(field, f"{name} {found}, PyTorch {expected}", name)

    def close(self):
        self.ours.close()
        self.theirs.close()


def give_up_if(reason, found=None):
    if reason is not None:
        raise Abandoned(reason) from found


def compare_errors(found, expected):
    if found is None and expected is None:
        return
    alike = found is not None and expected is not None and are_akin(found, expected)
    if alike and is_like(found, IN_PART):
        raise Abandoned(found[1])
    if not alike and any(is_like(found, ours) and is_like(expected, theirs) for ours, theirs in ON_PURPOSE):
        raise Abandoned(f"{found}, PyTorch {expected}")
    if found is None or expected is None:
        raise Difference("error", f"{found}, PyTorch {expected}")
    if not alike:
        raise Difference("error text", f"{found}, PyTorch {expected}")


def are_akin(found, expected):
    """Whether two errors are of one kind, and their messages have four words in a row in common, or all if there are less."""
    if not issubclass(found[0], expected[0]) and found[0].__name__ != expected[0].__name__:
        return False
    if expected[0] is NotImplementedError:
        return True
    found, expected = words(found[1]), words(expected[1])
    return any(" ".join(expected[k : k + 4]) in " ".join(found) for k in range(max(len(expected) - 3, 1)))


def is_like(error, pattern):
    return error is None if pattern is None else error is not None and re.search(pattern, error[1]) is not None


def words(text):
    return re.findall(r"[a-z_]+", text.replace("torch.", "").lower())


def near(found, expected, tolerance):
    """Whether two nests of sequences are the same, numbers nearly: in relation to the largest beside them."""
    if isinstance(expected, (list, tuple)):
        if type(found) is not type(expected) or len(found) != len(expected):
            return False
        if expected and all(isinstance(x, (float, complex)) for x in expected):
            scale = max([abs(x) for x in expected if cmath.isfinite(x)], default=0)
            return all(close(x, y, tolerance, scale) for x, y in zip(found, expected, strict=True))
        return all(near(x, y, tolerance) for x, y in zip(found, expected, strict=True))
    if isinstance(expected, (float, complex)):
        return close(found, expected, tolerance, abs(expected))
    return type(found) is type(expected) and found == expected


def close(x, y, tolerance, scale):
    if type(x) is not type(y):
        return False
    if cmath.isnan(y):
        return True  # which way NaNs go depends on the formula
    if cmath.isinf(y):
        return not cmath.isfinite(x)
    if isinstance(y, complex):
        return close(x.real, y.real, tolerance, scale) and close(x.imag, y.imag, tolerance, scale)
    return x == y or abs(x - y) <= tolerance * max(scale, 1.0 if tolerance > HALF else 0.1)


def difference(lines, modules):
    """Run a script on two modules: where they differ, None if they don't."""
    pair = Pair(*modules)
    try:
        for line in lines:
            pair.run(line)
        pair.look()
    except Difference as found:
        return found
    except Abandoned:
        return None
    finally:
        pair.close()
    return None
