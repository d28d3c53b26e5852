"""Messages between a process and its child, pickled, each behind its length; and their use by the child.

Standard output of the child goes to standard error. The child ends with its parent, also in the middle of a job and
however the parent ended: then the pipe to the child is closed.
"""

from __future__ import annotations

import os
import pickle
import queue
import shutil
import signal
import struct
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

STOP = "stop"  # asks a child to end its job soon, with the result so far
FOLDER = "LINKWORK_CHILD_FOLDER"  # of the environment: what the parent made for this process
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


def listen(stop: Callable[[], None] = lambda: None) -> tuple[queue.Queue[Any], BinaryIO]:
    """Begin to listen to the parent; return its messages as they come, and the stream for the answers.

    A message that cannot be read comes as the exception. `stop` is called, by another thread, where the parent asks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    asked, answers = _own_pipes()
    messages: queue.Queue[Any] = queue.Queue()
    folder = os.environ.pop(FOLDER, None)
    threading.Thread(target=_listen, args=(asked, messages, stop, folder), daemon=True).start()
    return messages, answers


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent, separate from standard input and output."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return asked, answers


def _listen(stream: BinaryIO, messages: queue.Queue[Any], stop: Callable[[], None], folder: str | None) -> None:
    """Take messages as they come; without a parent there is nothing left to do."""
    while True:
        try:
            message = receive(stream)
            if message == STOP:
                stop()
            else:
                messages.put(message)
        except (EOFError, OSError):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)  # a parent that was killed cannot
            os._exit(0)
        except Exception as problem:  # what it names cannot be imported here
            messages.put(problem)
