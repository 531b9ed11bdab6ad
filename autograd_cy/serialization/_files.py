"""save() and load() (facade)."""

import contextlib
import io
import os
import pickle
import sys
import warnings
from collections.abc import Iterator
from pickle import UnpicklingError
from typing import IO, Any

from .._core.runtime.entry import public
from .._types import device
from ._archive import ArchiveReader, ArchiveWriter
from ._atomic import replaced
from ._reader import KNOWN, Reader, names_in
from ._safe_globals import added
from ._storages import StorageReader
from ._stream import BEGINNING, StreamReader
from ._writer import Writer

DEFAULT_PROTOCOL = 2
_VERSION = b"3\n"


@public
def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:  # fmt: skip
    """``save(obj, f)`` writes an object to a file that load() reads, and PyTorch's, too.

    f: a path, or a file that is open for writing bytes. A file at the path is replaced atomically after all is written.
    Tensors that share memory share it when loaded; graphs, ``.grad`` and hooks are not saved. PicklingError or
    AttributeError for objects that can't be pickled, RecursionError for too deep nesting, NotImplementedError for another
    pickle_module or the format before zip files.

    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save({"weight": ag.ones(2), "epoch": 3}, file)
    >>> ag.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if getattr(pickle_module, "__name__", "pickle") != "pickle":
        raise NotImplementedError(f"save(): pickle_module must be pickle, got {pickle_module!r}")
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("save(): only the zip format is written, got _use_new_zipfile_serialization=False")
    pickled = io.BytesIO()
    writer = Writer(pickled, pickle_protocol)
    try:
        writer.dump(obj)  # before a file is touched
    except RecursionError:
        raise RecursionError(
            f"save(): the {type(obj).__name__} is nested too deeply to be pickled within Python's recursion limit of "
            f"{sys.getrecursionlimit()}. Save a flat structure, such as the state_dict() of a module, or raise the limit by "
            "sys.setrecursionlimit()."
        ) from None
    if hasattr(f, "write"):
        _write(f, "archive", pickled, writer)
        return
    with replaced(f) as file:
        _write(file, os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive", pickled, writer)


def _write(file: IO[bytes], folder: str, pickled: io.BytesIO, writer: Writer) -> None:
    archive = ArchiveWriter(file, folder)
    archive.write("data.pkl", pickled.getbuffer())
    archive.write("byteorder", sys.byteorder.encode())
    for number, memory in enumerate(writer.storages):
        archive.write(f"data/{number}", memory)
    archive.write("version", _VERSION)
    archive.close()


@public
def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """``load(f)`` reads files of save(), or of PyTorch's torch.save(), without executing code by default.

    f: a path, or a file that is open for reading bytes and can seek. mmap=True maps the memory of tensors from the
    file at that path, so it is read on use; writes to it stay in memory. map_location: the tensors' device, only "cpu"; it
    may be a dict or a function of locations as in PyTorch. A file may have tensors, Parameters, containers, numbers,
    strings, and instances of classes given to add_safe_globals(). With weights_only=False it may also have whole modules
    and any other object of pickle_module (or pickle), which calls functions that the file names: use it only for trusted
    files. As in PyTorch, TORCH_FORCE_WEIGHTS_ONLY_LOAD=1 in the environment overrides weights_only=False, and
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 changes the default of weights_only. RuntimeError for a file of another format or a
    damaged one, pickle.UnpicklingError for a file with other objects, or with names that this package lacks.

    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save([ag.arange(3)], file)
    >>> ag.load(file)
    [tensor([0, 1, 2])]
    """
    trusted = _is_trusted(weights_only)
    if not trusted:
        _check_only_weights(pickle_module, pickle_load_args)
    if mmap and not isinstance(f, str | os.PathLike):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with _opened(f) as (file, name):
        source = _source(file, name, f if mmap else None, _checker_of_locations(map_location))
        if trusted:
            from ._unpickler import unpickler  # few need it

            found = unpickler(pickle_module or pickle, source.pickle, source.storage, **pickle_load_args).load()
        else:
            found = _harmless(source)
        source.fill()
        return found


def _is_trusted(weights_only: bool | None) -> bool:
    """Whether pickle may execute a file's instructions, by the argument and the environment."""
    never, always = (
        os.environ.get(f"TORCH_FORCE_{kind}_LOAD", "").lower() in ("1", "y", "yes", "true")
        for kind in ("WEIGHTS_ONLY", "NO_WEIGHTS_ONLY")
    )
    if never and always:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were "
            "set."
        )
    if always and weights_only is None:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return True
    return not never and weights_only is not None and not weights_only


def _check_only_weights(pickle_module: Any, options: dict[str, Any]) -> None:
    """Refuse options that our own reader doesn't have."""
    if getattr(pickle_module, "__name__", "pickle") != "pickle" or options.pop("encoding", "utf-8") != "utf-8":
        raise NotImplementedError("load(): with weights_only=True files are read without a pickle module, in UTF-8")
    if options:
        raise TypeError(f"load() got an unexpected keyword argument {next(iter(options))!r}")


def _harmless(source: Any) -> Any:
    """The objects in a file, all known to be harmless."""
    try:
        return Reader(source.pickle, source.storage).load()
    except UnpicklingError as error:
        raise UnpicklingError(
            "Weights only load failed: of what a file names, only what is known to be harmless is made. If you trust who "
            f"wrote it, load(..., weights_only=False) makes all of it.\n{error}"
        ) from error.__cause__


@contextlib.contextmanager
def _opened(f: Any) -> Iterator[tuple[IO[bytes], str]]:
    """An open file, from a path or a file, and its name in errors."""
    if hasattr(f, "read") and hasattr(f, "seek"):
        yield f, "the file"
    elif isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            yield file, repr(os.fspath(f))
    else:
        raise AttributeError(f"load(): expected a path, or a file that can read and seek, got {type(f).__name__}")


def _source(file: IO[bytes], name: str, mapped_from: Any, locate: Any) -> StorageReader | StreamReader:
    """The contents of a file: the pickle of its objects, and the memory of tensors."""
    file.seek(0)
    beginning = file.read(len(BEGINNING))
    file.seek(0)
    if beginning != BEGINNING:
        return StorageReader(ArchiveReader(file, name), mapped_from, locate)
    if mapped_from is not None:
        raise RuntimeError(f"load(): mmap=True needs a zip file, which {name} is not")
    return StreamReader(file, name, locate)


def _checker_of_locations(map_location: Any) -> Any:
    """A function that refuses locations of storages other than the CPU, after map_location is applied."""

    def check(location: str) -> None:
        target = location
        if isinstance(map_location, dict):
            target = map_location.get(location, location)
        elif callable(map_location):
            return  # wherever it would put it
        elif map_location is not None:
            target = map_location
        _refuse_absent(str(target))

    if map_location is not None and not callable(map_location) and not isinstance(map_location, dict):
        _refuse_absent(str(device(map_location)))
    return check


def _refuse_absent(where: str) -> None:
    """RuntimeError unless the device is the CPU."""
    kind = where.partition(":")[0]
    if kind != "cpu":
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. If you "
            "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )


@public
def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """``get_unsafe_globals_in_checkpoint(f)`` lists the names in a file that load() would refuse, in order.

    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save({"weight": ag.ones(2)}, file)
    >>> ag.serialization.get_unsafe_globals_in_checkpoint(file)
    []
    """
    with _opened(f) as (file, name):
        names = names_in(_source(file, name, None, lambda location: None).pickle)
    return [name for name in names if name not in KNOWN and added(name) is None]
