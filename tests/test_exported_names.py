"""What a module offers is listed in ``__all__``, sorted, and there."""

from __future__ import annotations

import pkgutil
from collections import Counter
from importlib import import_module
from inspect import isclass, isfunction

import pytest_xling


def _raise(name: str) -> None:
    """Fail collection: a package that does not import would hide its modules."""
    import_module(name)
    msg = f"cannot walk {name}"
    raise ImportError(msg)


def _is_public(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split("."))


_found = pkgutil.walk_packages(pytest_xling.__path__, "pytest_xling.", onerror=_raise)
MODULES = ["pytest_xling", *(m.name for m in _found if _is_public(m.name))]


def _defined_in(module: str) -> list[str]:
    """Return the public classes and functions made in *module*, pytest's hooks aside."""
    return [
        name
        for name, value in vars(import_module(module)).items()
        if (isclass(value) or isfunction(value))
        and value.__module__ == module
        and not name.startswith(("_", "pytest_"))
    ]


def test_all_modules_are_seen() -> None:
    """Modules at every depth are walked, those at the root and those in a package."""
    assert {"pytest_xling", "pytest_xling.errors", "pytest_xling.store.schema"} <= set(MODULES)


def test_what_a_module_defines_is_listed() -> None:
    """A module that defines public names has ``__all__``; empty packages need none."""
    unlisted = [
        module
        for module in MODULES
        if not hasattr(import_module(module), "__all__") and _defined_in(module)
    ]
    assert [] == unlisted


def test_listed_names_exist() -> None:
    """Every name in ``__all__`` can be imported, once, and none is private; ruff sorts them."""
    wrong = [
        f"{module}.{name}"
        for module in MODULES
        for name, count in Counter(getattr(import_module(module), "__all__", [])).items()
        if count > 1 or name.startswith("_") or not hasattr(import_module(module), name)
    ]
    assert [] == wrong
