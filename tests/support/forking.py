"""Python as a user starts it, without the start: one process has imported what programs need, and forks for each.

Nothing but installed packages is on its path: it runs the text of this file, without the folder of the tests.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType

OFTEN_USED = ("scipy.integrate", "scipy.optimize", "pandas", "pyarrow", "matplotlib.pyplot", "fmpy", "linkwork")


class Forking:
    """The process that forks, and one program after the other."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "-c", Path(__file__).read_text(encoding="utf-8")]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True, cwd="/")

    def run(self, code: str, folder: Path, *arguments: str) -> tuple[int, str]:
        """Exit code and the output of a program in a folder."""
        with tempfile.TemporaryFile("w+") as output:
            path = f"/proc/{os.getpid()}/fd/{output.fileno()}"
            self._process.stdin.write(json.dumps([code, str(folder), ["-c", *arguments], path]) + "\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
            output.seek(0)
            return os.waitstatus_to_exitcode(status), output.read()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def serve() -> None:
    for name in OFTEN_USED:
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(*json.loads(line))
        print(os.waitpid(child, 0)[1], flush=True)


def become(code: str, folder: str, arguments: list[str], output: str) -> None:
    """Be the program, and end with it."""
    for stream in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    sys.argv = arguments
    sys.modules["__main__"] = main = ModuleType("__main__")
    status: object = 0
    try:
        exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__" and sys.argv == ["-c"]:
    serve()
