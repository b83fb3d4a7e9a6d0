"""How a model is asked to translate one sentence, for each prompt style."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.judging.shots import read_shots
from pytest_xling.languages import find
from pytest_xling.text.fence import NOTE, fenced

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle

_SHOTS = Path(__file__).with_name("shots.jsonl")
_CHAT_TOKENS = 2048
"""Far more than a sentence takes: some models think before they answer, and it counts."""


def turn(
    sentence: str, *, source: str, target: str, style: PromptStyle
) -> tuple[str, dict[str, JsonValue]]:
    """Return the one user turn that asks for *sentence* in another language, and its parameters.

    Args:
        sentence: one line.
        source: code of the language it should be in.
        target: code of the language it is wanted in.
        style: how the model wants to be asked.
    """
    if style == "chat":
        asked = _chat(sentence, find(source).english_name, find(target).english_name)
        return asked, {"max_tokens": _CHAT_TOKENS}
    # A token is seldom less than two bytes of what is translated; a letter of other scripts may
    # be a token or more.
    size = len(sentence.encode())
    most = 32 + (size // 2 if find(target).script == "Latn" else 2 * size)
    if style == "completion":
        return _completion(sentence, source, target), {"max_tokens": most, "stop": ["\n"]}
    # No search is a translator: it is refused before.
    languages = {"source_language": source, "target_language": target}
    return sentence, {"max_tokens": most, **languages}


def _chat(sentence: str, source: str, target: str) -> str:
    text = fenced({"SENTENCE": sentence})["SENTENCE"]
    return (
        f"Translate the sentence below from {source} into {target}.\n\n"
        "Keep its meaning exactly: add nothing, leave nothing out, correct no mistakes of fact, "
        f"and answer no question it asks. Words that are already in {target}, names, numbers and "
        f"units stay as they are. {NOTE}\n\n{text}\n\n"
        f"Reply with the {target} translation alone: no quotation marks, no marks from above, no "
        "remarks."
    )


def _completion(sentence: str, source: str, target: str) -> str:
    """Return two translated sentences and an open one.

    The sentences are there in four languages. Where *source* is none of them, each is shown in
    another, so that the labels tell the languages; where *target* is none, there are only labels.
    """
    parts = []
    others = [code for code in _languages() if code not in {source, target}]
    for shot, other in zip(read_shots(_SHOTS), others, strict=False):
        language = source if source in shot else other
        if target in shot:
            parts.append(_pair(language, shot[language], target) + f" {shot[target]}\n\n")
    return "".join(parts) + _pair(source, sentence, target)


def _pair(source: str, sentence: str, target: str) -> str:
    return f"{find(source).english_name}: {sentence}\n{find(target).english_name}:"


def _languages() -> tuple[str, ...]:
    return tuple(read_shots(_SHOTS)[0])
