"""A file that is written whole or not at all (facade)."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def replaced(path: Any) -> Iterator[IO[bytes]]:
    """``with replaced(path) as file:`` a new file that takes the place of that at the path when the block has ended.

    It stands beside it until then. Whatever ends the process, or the block by an exception, there is the old file or the
    new one. Of a symbolic link the file that it leads to is replaced; what is no regular file is written to.
    """
    path = os.path.realpath(os.fspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(path)
    new = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(new, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(new, os.stat(path).st_mode)
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        raise
