"""Results as Parquet, with units, events and notices.

A Parquet file can be read only once its end is written. Until then rows are kept in another file as a stream of Arrow,
which can be read at any time, also after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from linkwork._util.files import atomic_path
from linkwork.cosim.recording.sink import cannot_write
from linkwork.errors import CosimError
from linkwork.results.files import arrow, parquet_metadata, parquet_schema

ROW_GROUP = 65536  # rows


def stream_of(path: Path) -> Path:
    """Where the rows of a Parquet file are until it is complete."""
    return path.with_name(path.name + ".part")


class ParquetSink:
    """A Parquet file, and its rows as a stream of Arrow until the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stream = stream_of(path)
        self._arrow = arrow()
        self._schema: Any = None
        self._file: BinaryIO | None = None  # an older file stays until a run begins
        self._writer: Any = None

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Write the names, units and types of the columns."""
        pa = self._arrow
        self._schema = parquet_schema(names, units, types)
        try:
            self.path.unlink(missing_ok=True)  # it is not to be taken for this run's
            self._file = self.stream.open("wb")
            self._writer = pa.ipc.new_stream(self._file, self._schema)
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Write rows to the stream."""
        pa = self._arrow
        arrays = [pa.array(values, type=of.type) for values, of in zip([t, *columns], self._schema, strict=True)]
        try:
            self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
            if self._file:
                self._file.flush()
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem

    def end(self, about: Mapping[str, Any]) -> None:
        """Make the Parquet file of the stream."""
        if self._file is None or self._file.closed:
            return
        try:
            self._writer.close()
            self._file.close()
            complete(self.path, about)
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem


def complete(path: Path, about: Mapping[str, Any]) -> None:
    """Make a Parquet file of its stream, as far as that was written, and remove the stream."""
    pa = arrow()
    import pyarrow.parquet as pq

    with stream_of(path).open("rb") as file:
        reader = pa.ipc.open_stream(file)
        schema = reader.schema.with_metadata(parquet_metadata(about))
        with atomic_path(path, CosimError) as part, pq.ParquetWriter(part, schema) as writer:
            for table in _groups(batches(reader), schema):
                writer.write_table(table)
    stream_of(path).unlink()


def batches(reader: Any) -> Iterator[Any]:
    """The batches of a stream, up to where it was cut off."""
    with suppress(StopIteration, OSError, arrow().ArrowInvalid):
        while True:
            yield reader.read_next_batch()


def _groups(parts: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Tables of about `ROW_GROUP` rows."""
    held: list[Any] = []
    for one in parts:
        held.append(one)
        if sum(len(batch) for batch in held) >= ROW_GROUP:
            yield arrow().Table.from_batches(held).cast(schema)
            held = []
    yield arrow().Table.from_batches(held, schema=held[0].schema if held else schema).cast(schema)
