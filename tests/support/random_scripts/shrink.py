"""Makes a script as short as it gets, and a text that runs by itself."""

from random_scripts.session import PRELUDE


def shrunk(lines, fails):
    """The lines without those that `fails`, which says whether a script still shows something, does without."""
    size = max(len(lines) // 2, 1)
    while True:
        start = 0
        while start < len(lines):
            fewer = lines[:start] + lines[start + size :]
            if fails(fewer):
                lines = fewer
            else:
                start += size
        if size == 1:
            return lines
        size //= 2


def script(lines):
    """A script as a program: for PyTorch as it is, for this package with its first line exchanged."""
    body = "".join(f"try:\n    {line}\nexcept Exception as error:\n    print(type(error).__name__, error)\n" for line in lines)
    look = """
for name, t in list(globals().items()):
    if isinstance(t, torch.Tensor):
        print(name, t, t.grad_fn, t.grad if t.is_leaf or t.retains_grad else None)
print(*log, sep="\\n")
"""
    return PRELUDE.split('"""', 2)[2].lstrip() + "\n\n" + body + look
