"""Messages between parent and child: pickled, each behind its length."""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO

STOP = "stop"  # asks a child to end its job at the next step, with the result so far
_LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message.

    Raises
    ------
    OSError
        If nobody reads any more.
    """
    body = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read a message.

    Raises
    ------
    EOFError
        If the other process has ended, perhaps in the middle of a message.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)  # a buffered stream reads on until all is there
    if len(data) < count:
        raise EOFError("the other process has ended")
    return data
