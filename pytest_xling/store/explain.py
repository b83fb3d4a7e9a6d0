"""Look a content key up: its input, the outputs of steps, its cases, and the nearest input."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, or_, select, union

from pytest_xling.errors import StoreError, did_you_mean
from pytest_xling.store.cases import payload_of
from pytest_xling.store.rows import read_records
from pytest_xling.store.schema import cases, faulted, inputs, outputs, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

KEY_BYTES = 32
SHOWN = 10
_HEX = set("0123456789abcdef")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutput:
    """The output of one step for an input."""

    step: int
    kind: str
    name: str
    version: str
    parameters: dict[str, Any]
    cost_usd: float
    created_at: float
    """Unix time."""
    output: str
    """JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """A case of a run that a key belongs to."""

    run_id: str
    benchmark: str
    case_id: str
    role: str
    """``answer``: the key of its request; ``scores``: that of its answer as metrics see it."""
    response_key: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The input most like another one, and how they differ."""

    key: bytes
    differences: Mapping[str, tuple[Any, Any]]
    """By field, such as ``params.temperature``: there and here; None where it is absent."""


def find_key(connection: Connection, prefix: str) -> bytes:
    """Return the one key that begins with the hexadecimal *prefix*.

    Raises:
        StoreError: none does, or several, or it is not hexadecimal.
    """
    digits = prefix.strip().lower()
    if not digits or not set(digits) <= _HEX or len(digits) > 2 * KEY_BYTES:
        msg = (
            f"{prefix!r} is not a key: keys are up to {2 * KEY_BYTES} hexadecimal digits. "
            "For a case, such as q01-hi, name its run, too: --run latest"
        )
        raise StoreError(msg)
    low = bytes.fromhex(digits.ljust(2 * KEY_BYTES, "0"))
    high = bytes.fromhex(digits.ljust(2 * KEY_BYTES, "f"))
    query = union(
        select(inputs.c.key).where(inputs.c.key.between(low, high)),
        select(outputs.c.input_key).where(outputs.c.input_key.between(low, high)),
        select(faulted.c.response_key).where(faulted.c.response_key.between(low, high)),
    ).limit(SHOWN + 1)
    keys = [bytes(key) for key in connection.execute(query).scalars()]
    if not keys:
        msg = f"the store has no key that begins with {digits}; `xling export` lists those of a run"
        raise StoreError(msg)
    if len(keys) > 1:
        listed = ", ".join(key.hex()[: len(digits) + 8] for key in sorted(keys)[:SHOWN])
        more = ", …" if len(keys) > SHOWN else ""
        msg = f"several keys begin with {digits}: {listed}{more}; give more digits"
        raise StoreError(msg)
    return keys[0]


def key_of_case(connection: Connection, run_id: str, case_id: str) -> bytes:
    """Return the key of a case's request.

    Raises:
        StoreError: no such case, or benchmarks that share its name.
    """
    of_case = union(
        *(
            select(table.c.response_key).where(table.c.run_id == run_id, table.c.case_id == case_id)
            for table in (cases, faulted)
        )
    )
    keys = connection.execute(of_case).scalars().all()
    if len(keys) == 1:
        return bytes(keys[0])
    if keys:
        msg = f"run {run_id!r} has {case_id!r} in {len(keys)} benchmarks; give its key instead"
        raise StoreError(msg)
    ids = union(
        *(select(table.c.case_id).where(table.c.run_id == run_id) for table in (cases, faulted))
    )
    known = connection.execute(ids).scalars()
    msg = f"run {run_id!r} has no case {case_id!r}.{did_you_mean(case_id, known)}"
    raise StoreError(msg)


def step_outputs(connection: Connection, key: bytes) -> list[StepOutput]:
    """Return the outputs of all steps for the input *key*, by kind and name of the step."""
    query = (
        select(outputs, steps)
        .join(steps, steps.c.id == outputs.c.step)
        .where(outputs.c.input_key == key)
        .order_by(steps.c.kind, steps.c.name, steps.c.id)
    )
    return list(read_records(connection, StepOutput, query))


def uses(connection: Connection, key: bytes, *, limit: int = SHOWN) -> list[KeyUse]:
    """Return cases the key belongs to, of the newest runs first."""
    role = case((cases.c.response_key == key, "answer"), else_="scores").label("role")
    query = (
        select(cases, role)
        .where(or_(cases.c.response_key == key, cases.c.answer_key == key))
        .order_by(cases.c.run_id.desc(), cases.c.case_id)
        .limit(limit)
    )
    return list(read_records(connection, KeyUse, query))


def nearest(connection: Connection, key: bytes, *, step: int) -> Nearest | None:
    """Return the other input of *step* that differs from *key* in the fewest fields.

    Of those that differ in as many, the one whose differing texts have most in common.
    """
    payload = payload_of(connection, key)
    if payload is None:
        return None
    here = dict(_fields(payload))
    query = (
        select(inputs.c.key, inputs.c.payload)
        .join(outputs, outputs.c.input_key == inputs.c.key)
        .where(outputs.c.step == step, inputs.c.key != key)
        .execution_options(yield_per=1000)
    )
    best: Nearest | None = None
    least = (len(here) + 1_000_000, 0)
    for other, other_payload in connection.execute(query):
        there = dict(_fields(json.loads(other_payload)))
        differences = {
            name: (there.get(name), here.get(name))
            for name in sorted(here.keys() | there.keys())
            if name not in here or name not in there or here[name] != there[name]
        }
        distance = (len(differences), -sum(map(_agreement, differences.values())))
        if distance < least:
            least = distance
            best = Nearest(key=bytes(other), differences=differences)
    return best


def _fields(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  any JSON
    """Yield the leaves of nested JSON with their places: ``messages[0].content``."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _fields(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _fields(inner, f"{name}[{index}]")
    else:
        yield name, value


def _agreement(pair: tuple[Any, Any]) -> int:
    """Return for how many characters two texts agree, from either end."""
    there, here = pair
    if not (isinstance(there, str) and isinstance(here, str)):
        return 0
    return max(_common_start(there, here), _common_start(there[::-1], here[::-1]))


def _common_start(first: str, other: str) -> int:
    shorter = min(len(first), len(other))
    return next((i for i in range(shorter) if first[i] != other[i]), shorter)
