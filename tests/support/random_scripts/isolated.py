"""Calls in a process of their own, which may crash: PyTorch does now and then, at what random scripts do to it."""

import faulthandler
import os
import pickle
import sys


def isolated(function, *args):
    """What function(*args) returns, in a list; None if the process died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            os.close(reading)
            if torch := sys.modules.get("torch"):
                torch.set_num_threads(1)  # OpenMP's threads are not forked, but waited for
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump([function(*args)], pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(result) if result else None
