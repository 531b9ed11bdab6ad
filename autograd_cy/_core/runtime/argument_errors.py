"""Error messages for calls with too few or unknown arguments, mostly in PyTorch's words (calls no operation)."""

import inspect
import re

_COUNT = r"(\w+)\(\) (?:takes|needs) .*argument"
_KEYWORD = r"(\w+)\(\) got an unexpected keyword argument '(\w+)'"

_MAKING = "arange empty eye full linspace ones rand randint randn randperm zeros".split()
_LIKE = "empty_like full_like ones_like rand_like randn_like zeros_like".split()
_NEW = "new_empty new_full new_ones new_zeros".split()
_OTHERS = "empty_strided logspace range scalar_tensor tril_indices triu_indices".split()
_WINDOWS = [f"{name}_window" for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")]
_SIGNAL_WINDOWS = (
    "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall"
).split()


class Lacking:
    """An argument that functions of PyTorch take and ours don't: those functions, values (or their repr) that change nothing,
    the error for other values, and the alternative."""

    def __init__(self, functions, harmless, error=TypeError, instead=""):
        self.functions, self.harmless, self.error, self.instead = functions, harmless, error, instead


LACKING = {
    "layout": Lacking(
        [*_MAKING, *_LIKE, *_NEW, *_OTHERS, *_WINDOWS, *_SIGNAL_WINDOWS],
        (None, "torch.strided"),
        instead="to_sparse() gives a tensor another layout.",
    ),
    "memory_format": Lacking(
        ["resize_"], (None,), instead="permute() gives a tensor's dimensions another order in memory."
    ),
    "out_dtype": Lacking(["addmm", "bmm", "mm"], (), instead="to() converts the operands or the result."),
    "pin_memory": Lacking(
        ["tensor", *_MAKING, *_LIKE, *_NEW, *_OTHERS, *_WINDOWS],
        (None, False),
        RuntimeError,
        "There is the CPU's memory only.",
    ),
}
LACKED_BY = {
    function: {name for name in LACKING if function in LACKING[name].functions}
    for function in {function for lacking in LACKING.values() for function in lacking.functions}
}


def lacking_names(function, names):
    """The keywords that PyTorch's function of that name takes, but ours does not."""
    return [name for name in names if name in LACKED_BY.get(function, ())]


def without_lacking(function, kwargs):
    """The keywords without those that PyTorch's function of that name takes, but ours does not."""
    lacking = lacking_names(function, kwargs)
    return {name: value for name, value in kwargs.items() if name not in lacking}


def refusal_of(function, kwargs):
    """The error for an unsupported value of such a keyword; None if all values are harmless."""
    for name in lacking_names(function, kwargs):
        if not any(kwargs[name] is value or repr(kwargs[name]) == value for value in LACKING[name].harmless):
            return LACKING[name].error(
                f"{function}() got an unexpected keyword argument {name!r}: PyTorch has it, this package does not (yet). "
                f"{LACKING[name].instead}"
            )
    return None


def wrong_self(given, kind):
    """The TypeError for `kind.method(given)`. Cython checks the types of all arguments except the first."""
    return TypeError(f"a method of '{kind.__name__}' objects doesn't apply to a '{type(given).__name__}' object")


def explained(function, given, names, message):
    """A better message for a TypeError raised by a call of `function`, or None if there is none.

    `given` is the number of positional arguments, `names` are the keywords.
    """
    count, keyword = re.match(_COUNT, message), re.match(_KEYWORD, message)
    found = count or keyword
    if not found or found[1] != function.__name__:
        return None
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    takes = inspect.Signature(parameters)
    if keyword:
        return (
            f"{found[1]}() received an invalid combination of arguments: got an unexpected keyword argument {keyword[2]!r}, "
            f"but here it takes {takes}"
        )
    wanted = [p.name for p in parameters[given:] if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    missing = [name for name in wanted if name not in names]
    if missing:
        return f"{found[1]}() missing {len(missing)} required positional arguments: " + ", ".join([f'"{n}"' for n in missing])
    return f"{found[1]}() received an invalid combination of arguments: {given} positional ones, but here it takes {takes}"
