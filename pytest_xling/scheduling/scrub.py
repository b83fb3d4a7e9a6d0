"""Clean the reports of workers, so that execnet can send them.

execnet carries plain builtin values only. A lone surrogate in a failure message or a numpy scalar
in `user_properties` makes the worker fail while it reports; xdist then prints INTERNALERROR, drops
the worker's other tests and may exit 0.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest
from _pytest._io.saferepr import saferepr  # the one repr that no foreign __repr__ can break

from pytest_xling.text.display import clean

if TYPE_CHECKING:
    import warnings
    from collections.abc import Callable, Generator

# execnet packs small integers in four signed bytes and larger ones as decimal digits, of which
# Python converts 4,300 at most by default.
_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 10**4000
# Deeper than any report; a list that holds itself ends here.
_MAX_DEPTH: Final = 50
_MAX_REPR: Final = 10_000
# What XML 1.0 cannot hold even as an entity.
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ReportGuard:
    """A pytest plugin, for every process, that cleans all reports.

    It also shares equal values of a test's reports, as pytest keeps three per test to the end.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, pytest.TestReport] = {}
        """The latest report of each test, by node id."""

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, object, object]:
        """Clean the report that is about to be sent, whichever plugin serialised it."""
        return scrub((yield))

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Replace a warning whose text cannot be sent by one with the cleaned text."""
        text = str(warning_message.message)
        if (sendable := clean(text)) != text:
            warning_message.message = UserWarning(sendable)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Release the reports that a worker has sent."""
        ran = yield
        reporter = item.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and hasattr(item.config, "workerinput"):
            for reports in reporter.stats.values():
                reports.clear()
        return ran

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Clean the names of properties: pytest's JUnit writer escapes only their values.

        Values that equal those of the test's previous report are shared with it.
        """
        previous, ours = self._under_way.get(report.nodeid), vars(report)
        same = {} if previous is None else vars(previous)
        for attribute, share in _SHARED.items():
            if attribute not in ours:
                continue
            if attribute in same and _are_same(same[attribute], ours[attribute]):
                ours[attribute] = same[attribute]
            else:
                ours[attribute] = share(ours[attribute])
        self._under_way[report.nodeid] = report
        if report.when == "teardown":
            del self._under_way[report.nodeid]


def _are_same(first: Any, second: Any) -> bool:  # noqa: ANN401  whatever a test records
    """Tell whether two attributes of reports are equal, without asking values of unknown types."""
    if type(first) is not type(second):
        return False
    if not isinstance(first, list):
        return bool(first == second)
    return len(first) == len(second) and all(
        name == other_name
        and (value is other or (type(value) is type(other) is str and value == other))
        for (name, value), (other_name, other) in zip(first, second, strict=True)
    )


def _name(name: object) -> str:
    return sys.intern(_NOT_XML.sub("\ufffd", str(name)))


def _shared(value: Any) -> Any:  # noqa: ANN401  text or not
    """Return *value*, a text interned, as other reports have it, too."""
    return sys.intern(value) if type(value) is str else value


# Attributes that the reports of a test share, with what interns their texts.
_SHARED: Final[dict[str, Callable[[Any], Any]]] = {
    "_id": _shared,
    "nodeid": _shared,
    "worker_id": _shared,
    "testrun_uid": _shared,
    "location": lambda location: tuple(map(_shared, location)),
    "keywords": lambda keywords: {_shared(name): value for name, value in keywords.items()},
    "user_properties": lambda pairs: [(_name(name), _shared(value)) for name, value in pairs],
}


def scrub(data: object) -> object:
    """Return *data* in types that execnet carries and with text that UTF-8 can encode.

    Numpy-like scalars become Python ones, subclasses of builtins their base, lone surrogates
    U+FFFD, and what is unknown or out of range its repr. Keys are treated like values.
    """
    return _scrub(data, 0)


def _scrub(data: object, depth: int) -> object:
    if data is None:
        return None
    if depth > _MAX_DEPTH:
        return _described(data)
    for base, plain in _PLAIN:
        if isinstance(data, base):
            return plain(data)
    if isinstance(data, dict):
        return {_scrub(key, depth + 1): _scrub(value, depth + 1) for key, value in data.items()}
    for kind in (list, tuple, set, frozenset):
        if isinstance(data, kind):
            return kind(_scrub(element, depth + 1) for element in data)
    return _scrub_scalar(data, depth)


def _scrub_scalar(data: object, depth: int) -> object:
    """Ask a scalar in the manner of numpy for its Python value; describe anything else."""
    if getattr(data, "shape", None) == () and callable(item := getattr(data, "item", None)):
        value = item()
        # np.longdouble has no Python counterpart and answers with itself.
        if type(value) is not type(data):
            return _scrub(value, depth + 1)
    return _described(data)


def _scrub_int(number: int) -> int | str:
    return number if _INT_MIN <= number < _INT_MAX else hex(number)


def _described(data: object) -> str:
    return clean(saferepr(data, maxsize=_MAX_REPR))


# Base class → its plain value, past whatever a subclass overrides. Order matters: bool is an int.
_PLAIN: Final[tuple[tuple[type, Callable[[Any], object]], ...]] = (
    (bool, bool),
    (str, lambda text: clean(str.__str__(text))),
    (int, lambda number: _scrub_int(int.__int__(number))),
    (float, float.__float__),
    (complex, lambda number: complex(number.real, number.imag)),
    (bytes, bytes),
    (bytearray, bytes),
)
