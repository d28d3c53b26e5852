"""Runs a user's class in an FMU under PythonFMU's library. It is copied into each FMU and knows no other module.

PythonFMU finds classes by the names of modules, of which a process has one each; saves registered variables alone; and
gives references back that it does not have, after an exception and at each instantiation. So the user's files are
imported from a folder of their own, under names of their own; the whole state is saved; and an exception is printed and
leaves the process alive.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import importlib
import importlib.util
import json
import pickle
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

FACTS = "slave.json"  # names the user's file and class
# The module that PythonFMU's library looks for, next to a folder with the user's files. It is executed twice: imported,
# and again for the names of its classes, each time leaving some memory behind. `own` keeps its dictionary, which the
# library gives back before an instance can take a reference for it.
ENTRY = """from importlib import import_module
from pathlib import Path
own = globals()
Slave = own.get("Slave") or import_module(__name__ + "_adapter").load(Path(__file__).with_suffix(""))
"""
_CALLS = ("setup_experiment", "enter_initialization_mode", "exit_initialization_mode", "do_step", "terminate")
_ACCESS = tuple(f"{verb}_{kind}" for verb in ("get", "set") for kind in ("real", "integer", "boolean", "string"))
# What PythonFMU keeps in a slave; it changes with the slave's class alone. It holds on to the very queue.
_MACHINERY = {"vars", "log_queue", "instance_name", "resources", "visible", "guid", "modelName", "default_experiment"}
_MACHINERY |= {"author", "license", "version", "copyright", "description", "_owners"}


def load(folder: Path) -> type:
    """Return the class of the FMU whose files are in a folder."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    try:
        module = load_module(folder, facts["file"])
    except Exception:
        _print_exception(f"{facts['class']} cannot be loaded in {sys.executable}:")
        raise
    return adapted(getattr(module, facts["class"]), folder.name)


def load_module(folder: Path, file: str) -> ModuleType:
    """Import a file; modules in its folder are its own, whatever else the process has imported under their names."""
    name = module_name(folder, file)
    specification = importlib.util.spec_from_file_location(name, folder / file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with _own_modules(folder):
        sys.modules[name] = module
        specification.loader.exec_module(module)
    return module


def module_name(folder: Path, file: str) -> str:
    """Return the name under which a file of the user is imported."""
    return f"{folder.name}_{file.partition('.')[0]}"


def _alone() -> threading.RLock:
    """Return the lock under which all FMUs of a process load, each of which has this module for itself."""
    found: threading.RLock = vars(sys).setdefault("linkwork_controllers_loading", threading.RLock())
    return found


@contextmanager
def _own_modules(folder: Path) -> Iterator[None]:
    own = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    with _alone():
        yield from _set_aside(folder, own)


def _set_aside(folder: Path, own: set[str]) -> Iterator[None]:
    """Put what the process has under the names in `own` aside for a while."""
    aside = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in own}
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
        sys.modules.update(aside)


def adapted(user_class: type, folder_name: str) -> type:
    """Return a class of the same name and model that saves its whole state and survives exceptions."""
    calls = {name: _reporting(getattr(user_class, name), name) for name in (*_CALLS, *_ACCESS)}
    calls |= {name: _reporting(getattr(Adapter, name), name) for name in ("_get_fmu_state", "_set_fmu_state")}
    left_out = frozenset(_MACHINERY).union(*(vars(base).get("unsaved", ()) for base in user_class.__mro__))
    return type(
        user_class.__name__, (Adapter, user_class), calls | {"_folder_name": folder_name, "_left_out": left_out}
    )


def _reporting(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(call)
    def reported(self: Any, *arguments: Any) -> Any:
        try:
            return call(self, *arguments)
        except BaseException:
            _report(self, f"{type(self).__name__} {self.instance_name!r} failed in {name}:")
            raise

    return reported


def _report(slave: Any, headline: str) -> None:
    """Report an exception, and keep references that PythonFMU will release twice."""
    _print_exception(headline)
    _keep_all(slave)


def _print_exception(headline: str) -> None:
    """Print the current exception on standard error: PythonFMU only logs it, and the log is mostly off."""
    print(f"{headline}\n{traceback.format_exc()}", file=sys.stderr, flush=True)


def _keep_all(slave: Any) -> None:
    for one in (slave, type(slave), slave.log_queue):
        _keep(one)


def _keep(one: object) -> None:
    """Add a reference for one that PythonFMU gives back without having taken it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))


class Adapter:
    """The adapter around the user's class."""

    vars: dict[int, Any]
    _folder_name = ""
    _owners: tuple[tuple[str, ...], ...] = ()
    _left_out: frozenset[str] = frozenset()
    _living: ClassVar[list[weakref.ref[Any]]] = []

    def __init__(self, **kwargs: Any) -> None:
        if self._folder_name in sys.modules:
            _keep(vars(sys.modules[self._folder_name]))  # at each instantiation
        resources = kwargs["resources"]
        with _alone():
            while resources in sys.path:  # PythonFMU leaves it there, once for each instance
                sys.path.remove(resources)
        try:
            super().__init__(**kwargs | {"resources": str(Path(resources) / self._folder_name)})
        except Exception:
            _print_exception(f"{type(self).__name__} cannot be made:")
            raise
        self._owners = tuple(sorted(_owners(self), key=len))
        self._living[:] = [one for one in self._living if one() is not None] + [weakref.ref(self)]

    def _get_fmu_state(self) -> dict[str, Any]:
        attributes = {name: value for name, value in vars(self).items() if name not in self._left_out}
        values = {v.name: v.getter() for v in self.vars.values() if v.name not in attributes}
        return copy.deepcopy({"attributes": attributes, "values": values}, {id(self): self})

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        state = copy.deepcopy(state, {id(self): self})
        for variable in self.vars.values():
            if variable.name in state["values"] and variable.setter is not None:
                variable.setter(state["values"][variable.name])
        owners = [(path, _at(self, path)) for path in self._owners]
        for name in [name for name in vars(self) if name not in self._left_out and name not in state["attributes"]]:
            delattr(self, name)
        vars(self).update(state["attributes"])
        for path, owner in owners:  # the variables' own getters hold on to these objects
            restored = _at(self, path)
            vars(owner).clear()
            vars(owner).update(vars(restored))
            setattr(_at(self, path[:-1]), path[-1], owner)

    @classmethod
    def _fmu_state_to_bytes(cls, state: dict[str, Any]) -> bytes:
        with cls._survived():
            return pickle.dumps(state, protocol=5)

    @classmethod
    def _fmu_state_from_bytes(cls, state: bytes) -> dict[str, Any]:
        with cls._survived():
            found: dict[str, Any] = pickle.loads(state)
            return found

    @classmethod
    @contextmanager
    def _survived(cls) -> Iterator[None]:
        """Keep all instances where one is meant, and PythonFMU does not pass it."""
        try:
            yield
        except BaseException:
            for one in cls._living:
                if (slave := one()) is not None:
                    _keep_all(slave)
            raise


def _owners(slave: Any) -> set[tuple[str, ...]]:
    """Paths of attributes from the slave to the objects that own its variables, as ``a`` does ``a.b``."""
    paths = set()
    for variable in slave.vars.values():
        names = variable.name.split(".")[:-1]
        for k in range(1, len(names) + 1):
            path = tuple(names[:k])
            if hasattr(_at(slave, path), "__dict__"):
                paths.add(path)
    return paths


def _at(slave: Any, path: tuple[str, ...]) -> Any:
    return functools.reduce(lambda owner, name: getattr(owner, name, None), path, slave)
