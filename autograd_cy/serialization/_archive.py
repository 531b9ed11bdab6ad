"""The zip file of a checkpoint: records in one folder, none compressed, each at a multiple of 64 bytes (facade).

The layout is PyTorch's: `data.pkl` has the objects, `data/0`, `data/1`, ... the memory of tensors. Files are not
trusted: sizes are compared with the length of the file before memory is allocated.
"""

import os
import struct
import sys
import zipfile
from typing import IO, Any

import numpy as np

ALIGNMENT = 64
_CHUNK = 1 << 20
_LOCAL_HEADER = 30  # bytes before a record's name
_DAMAGES = (zipfile.BadZipFile, struct.error, EOFError, NotImplementedError, OverflowError, UnicodeError, ValueError)
_DATE = (1980, 1, 1, 0, 0, 0)  # the same objects make the same bytes


class ArchiveWriter:
    """Writes records into a file."""

    def __init__(self, file: IO[bytes], folder: str):
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._file, self._folder = file, folder

    def write(self, name: str, data: Any) -> None:
        """write(name, data): a record of bytes, or of the memory of an array."""
        record = zipfile.ZipInfo(f"{self._folder}/{name}", _DATE)
        record.extra = self._padding(record.filename)
        view = memoryview(data).cast("B") if len(data) else b""
        record.file_size = len(view)  # zipfile then knows whether the record needs zip64, which takes 20 bytes more
        with self._zip.open(record, "w") as out:
            for start in range(0, len(view), _CHUNK):
                out.write(view[start : start + _CHUNK])

    def _padding(self, name: str) -> bytes:
        """The extra field that aligns the record's bytes to a multiple of ALIGNMENT."""
        start = self._file.tell() if self._file.seekable() else 0
        begin = start + _LOCAL_HEADER + len(name.encode()) + 4
        missing = -begin % ALIGNMENT
        return struct.pack("<2sH", b"FB", missing) + bytes(missing)

    def close(self) -> None:
        self._zip.close()


class ArchiveReader:
    """The records of an untrusted file. RuntimeError unless it is an archive of this format."""

    def __init__(self, file: IO[bytes], name: str):
        self._file, self._name = file, name
        self.length = file.seek(0, os.SEEK_END)
        file.seek(0)
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGES as error:
            raise self.damaged(f"it is no zip file, or a part of one ({error})") from None
        self._records = self._checked()
        pickles = [name for name in self._records if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise self.damaged("expected one record data.pkl, got " + (", ".join(sorted(self._records)[:8]) or "none"))
        self._folder = pickles[0].removesuffix("data.pkl")
        if self._folder + "constants.pkl" in self._records:
            raise self.damaged("it is a TorchScript program, which can't be run here")

    def damaged(self, text: str) -> RuntimeError:
        """damaged(text) -> the error for a damaged file."""
        return RuntimeError(f"load(): {self._name} is no file as save() writes it: {text}")

    def _checked(self) -> dict[str, zipfile.ZipInfo]:
        """The records by name, if none is compressed and together they are not larger than the file."""
        records: dict[str, zipfile.ZipInfo] = {}
        for record in self._zip.infolist():
            if record.filename in records:
                raise self.damaged(f"record {record.filename!r} is there twice")
            if record.compress_type != zipfile.ZIP_STORED or record.compress_size != record.file_size:
                raise self.damaged(f"record {record.filename!r} is compressed")
            if record.flag_bits & 1:
                raise self.damaged(f"record {record.filename!r} is encrypted")
            records[record.filename] = record
        if sum(record.file_size for record in records.values()) > self.length:
            raise self.damaged(f"its records are larger than the file's {self.length} bytes")
        return records

    def record(self, name: str) -> zipfile.ZipInfo | None:
        """record(name) -> the record's entry in the file, or None."""
        return self._records.get(self._folder + name)

    def read(self, name: str) -> np.ndarray:
        """read(name) -> a copy of the bytes of a record, as an array."""
        record = self._expected(name)
        data = np.empty(record.file_size, np.uint8)
        view, filled = memoryview(data.data), 0
        try:
            with self._zip.open(record) as source:
                while filled < len(view):
                    part = source.read(min(_CHUNK, len(view) - filled))
                    if not part:
                        raise EOFError(f"{filled} of {len(view)} bytes")
                    view[filled : filled + len(part)] = part
                    filled += len(part)
        except _DAMAGES as error:
            raise self.damaged(f"record {record.filename!r} can't be read: {error}") from None
        return data

    def mapped(self, name: str, path: Any) -> np.ndarray:
        """mapped(name, path) -> the bytes of a record, mapped from the file; writes don't change the file."""
        record = self._expected(name)
        self._file.seek(record.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or header[:4] != b"PK\3\4":
            raise self.damaged(f"record {record.filename!r} is not where the file says")
        begin = record.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", header[26:30]))
        if begin + record.file_size > self.length:
            raise self.damaged(f"record {record.filename!r} goes beyond the end of the file")
        if not record.file_size:
            return np.empty(0, np.uint8)
        return np.memmap(path, np.uint8, "c", begin, (record.file_size,))

    def _expected(self, name: str) -> zipfile.ZipInfo:
        record = self.record(name)
        if record is None:
            raise self.damaged(f"there is no record {name!r}")
        return record

    def is_swapped(self) -> bool:
        """Whether numbers have their bytes in the other order than this machine's."""
        return self.record("byteorder") is not None and self.read("byteorder").tobytes() != sys.byteorder.encode()
