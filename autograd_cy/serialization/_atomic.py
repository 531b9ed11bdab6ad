"""A file that is written whole or not at all (facade)."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def replaced(path: Any) -> Iterator[IO[bytes]]:
    """``with replaced(path) as file:`` a new file, which replaces the one at the path at the end of the block.

    Until then it is a separate file in the same folder. If the block raises or the process dies, either the old or the new
    file is there. For a symbolic link its target is replaced; other than regular files are written to directly.
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
