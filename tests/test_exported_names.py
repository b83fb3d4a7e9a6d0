"""What a package offers is listed in ``__all__``, sorted, and there; a module lists nothing."""

from __future__ import annotations

import pkgutil
from collections import Counter
from importlib import import_module

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


def test_all_modules_are_seen() -> None:
    """Modules at every depth are walked, those at the root and those in a package."""
    assert {"pytest_xling", "pytest_xling.errors", "pytest_xling.store.schema"} <= set(MODULES)


def test_packages_alone_list_what_they_offer() -> None:
    """A module's public names are those that do not begin with an underscore."""
    listing = {module for module in MODULES if hasattr(import_module(module), "__all__")}
    packages = {module for module in MODULES if hasattr(import_module(module), "__path__")}
    assert {"pytest_xling", "pytest_xling.languages"} <= listing <= packages


def test_listed_names_exist() -> None:
    """Every name in ``__all__`` can be imported, once, and none is private; ruff sorts them."""
    wrong = [
        f"{module}.{name}"
        for module in MODULES
        for name, count in Counter(getattr(import_module(module), "__all__", [])).items()
        if count > 1 or name.startswith("_") or not hasattr(import_module(module), name)
    ]
    assert [] == wrong
