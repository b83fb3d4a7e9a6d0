"""What a runner of GitHub Actions hears in the log of a step, after ActionCommand.cs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

KNOWN = {
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
}
NEW = re.compile(r"::(?P<name>[^ :]+)(?: (?P<properties>.*?))?::(?P<data>.*)", re.DOTALL)
OLD = re.compile(r"##\[(?P<name>[^ \]]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command as the runner understands it."""

    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def heard(log: str) -> list[Command]:
    """Return the commands a runner carries out, those that stop and resume it left out."""
    token: str | None = None
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        known = KNOWN | ({token} if token else set())
        match = NEW.match(line.lstrip())
        if match is None or match["name"].lower() not in known:
            match = OLD.search(line)
        if match is None or match["name"].lower() not in known:
            continue
        name = match["name"].lower()
        if token is not None:
            if name == token:
                token = None
        elif name == "stop-commands":
            token = match["data"].lower()
        else:
            pairs = [pair.split("=", 1) for pair in (match["properties"] or "").split(",") if pair]
            properties = {key: _read(value, colon=True) for key, value in pairs}
            found.append(Command(name, _read(match["data"]), properties))
    assert token is None, "the runner never hears again"
    return found


def _read(text: str, *, colon: bool = False) -> str:
    codes = {"%0D": "\r", "%0A": "\n", **({"%3A": ":", "%2C": ","} if colon else {}), "%25": "%"}
    for written, char in codes.items():
        text = text.replace(written, char)
    return text
