"""Tests for pytest_xling.scheduling.scrub."""

from __future__ import annotations

import enum
import pathlib
import struct
import warnings
from collections import OrderedDict, namedtuple
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.scheduling.scrub import ReportGuard, scrub

execnet = pytest.importorskip("execnet", reason="what a report must survive is execnet")

WIRE_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**80)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)
ANY_TEXT = st.text(st.characters(categories=None) | st.characters(categories=["Cs"]))


class Colour(enum.StrEnum):
    """A subclass of str, as users put into properties."""

    RED = "red \ud800"


class Level(enum.IntEnum):
    """A subclass of int."""

    HIGH = 3


class Broken:
    """An object that cannot even be described."""

    def __repr__(self) -> str:
        msg = "no repr \udfff"
        raise RuntimeError(msg)


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - the untyped kind is met as well


def through_the_wire(data: object) -> object:
    """Send *data* as execnet would."""
    return execnet.loads(execnet.dumps(data))


@given(WIRE_VALUES)
def test_what_is_fit_stays_as_it_is(data: object) -> None:
    """Values that execnet carries are not touched, and arrive equal."""
    assert data == scrub(data)
    assert data == through_the_wire(scrub(data))


@given(ANY_TEXT)
def test_any_text_becomes_sendable(text: str) -> None:
    """Surrogates are replaced, all else is kept; doing it twice changes nothing more."""
    clean = scrub(text)
    assert clean == through_the_wire(clean)
    assert clean == scrub(clean)
    kept = [c for c in text if not "\ud800" <= c <= "\udfff"]
    rest = iter(str(clean))
    assert all(c in rest for c in kept)


REFUSED = {
    "lone high": ("a\ud83db", "a\ufffdb"),
    "lone low": ("end \udc80", "end \ufffd"),
    "split pair": ("\ud83d\ude00", "\U0001f600"),
    "reversed pair": ("\ude00\ud83d", "\ufffd\ufffd"),
    "in key and list": ({"k\udfff": ["v\ud800"]}, {"k\ufffd": ["v\ufffd"]}),
    "in property": (("p", np.float64(0.5)), ("p", 0.5)),
    "float32": (np.float32(0.5), 0.5),
    "int64": (np.int64(-7), -7),
    "np str": (np.str_("x\ud800"), "x\ufffd"),
    "complex128": (np.complex128(1 + 2j), 1 + 2j),
    "longdouble": (np.longdouble("1.5"), repr(np.longdouble("1.5"))),
    "array of one": (np.array(3), 3),
    "array": (np.arange(2), "array([0, 1])"),
    "str enum": (Colour.RED, "red \ufffd"),
    "int enum": (Level.HIGH, 3),
    "namedtuple": (Pair(1, "\ud800"), (1, "\ufffd")),
    "ordered dict": (OrderedDict(a={1}), {"a": {1}}),
    "bytearray": (bytearray(b"x"), b"x"),
    "small int": (-(2**31) - 1, "-0x80000001"),
    "huge int": (10**5000, hex(10**5000)),
    "path": (pathlib.PurePosixPath("a"), "PurePosixPath('a')"),
}


@pytest.mark.parametrize(("data", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_execnet_refuses_is_replaced(data: object, expected: object) -> None:
    """Each kind of unfit value has its plain form, of exactly a builtin type."""
    with pytest.raises((execnet.DumpError, struct.error, ValueError)):
        execnet.dumps(data)
    clean = scrub(data)
    assert expected == clean
    assert type(expected) is type(clean)
    assert expected == through_the_wire(clean)


def test_values_that_fight_back_are_survived() -> None:
    """A raising __repr__, a list in itself and deep nesting all end as something sendable."""
    loop: list[object] = []
    loop.append(loop)
    deep: Any = "end"
    for _ in range(300):
        deep = [deep]
    for hostile in (Broken(), loop, deep):
        clean = scrub(hostile)
        assert clean == through_the_wire(clean)


def test_five_megabytes_are_kept() -> None:
    """Length is not what the channel minds: nothing is cut."""
    text = "अ" * 2_500_000 + "\ud800" + "b" * 2_500_000
    assert text.replace("\ud800", "\ufffd") == scrub(text)


def test_a_warning_with_unfit_text_is_replaced() -> None:
    """The text survives cleaned; a warning that is fit stays the object it was."""
    guard = ReportGuard()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("model said \ud83d", DeprecationWarning, stacklevel=1)
        warnings.warn("fine", DeprecationWarning, stacklevel=1)
    before = caught[1].message
    for message in caught:
        guard.pytest_warning_recorded(message)
    assert "model said \ufffd" == str(caught[0].message)
    assert before is caught[1].message


def test_property_names_fit_for_xml() -> None:
    """What no XML file can hold is replaced in names; values are the JUnit writer's business."""
    report = pytest.TestReport("t.py::a", ("t.py", 0, "a"), {}, "passed", None, "call")
    report.user_properties = [("a\0b\ud800\x1b", "\0"), ("c\td\U0001f600", 1)]
    ReportGuard().pytest_runtest_logreport(report)
    assert [("a\ufffdb\ufffd\ufffd", "\0"), ("c\td\U0001f600", 1)] == report.user_properties


def test_the_reports_of_a_test_share_their_properties() -> None:
    """Over the wire each gets texts of its own; what was not there yet an earlier one lacks."""
    guard = ReportGuard()

    def reported(when: Literal["setup", "call", "teardown"], *names: str) -> pytest.TestReport:
        properties: list[tuple[str, object]] = [(f"xling_{name}", f"v{name}") for name in names]
        report = pytest.TestReport(
            "t.py::t",
            ("t.py", 0, "t"),
            {"slow": 1},
            "passed",
            None,
            when,
            user_properties=properties,
        )
        guard.pytest_runtest_logreport(report)
        return report

    setup, call, teardown = (
        reported("setup", "a"),
        reported("call", "a", "b"),
        reported("teardown", "a", "b"),
    )
    assert [("xling_a", "va")] == setup.user_properties
    assert [("xling_a", "va"), ("xling_b", "vb")] == teardown.user_properties
    assert call.user_properties is teardown.user_properties
    assert setup.keywords is teardown.keywords
    assert setup.location is teardown.location
    assert setup.user_properties[0][1] is call.user_properties[0][1]
    other = reported("setup", "a", "b")
    assert other.user_properties is not teardown.user_properties
