"""Windows of a response: which are read beside a claim, and what they say together."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_xling.annotators.stance.windows import SENTENCES, combined, windows
from pytest_xling.text.answer_text import Pair
from pytest_xling.text.stance import STANCES

CLAIM = "drinking hot water cures influenza"


def read(response: str, language: str = "en", claim: str = CLAIM) -> list[str]:
    """Return the windows of *response*."""
    return windows(Pair(about=claim, response=response, language=language))


def test_short_responses_are_read_as_they_are() -> None:
    """Up to four sentences are one text, and so is what has none."""
    assert ["No."] == read("No.")
    assert ["—"] == read("—")
    four = "One says so. It is a myth. See a doctor. Get well."
    assert [four] == read(four)
    assert len(read(f"{four} Soon.")) > 1
    assert four.count(".") == SENTENCES


def test_the_verdict_in_the_middle_is_read() -> None:
    """Of a long answer first and last sentence, what takes up the claim, and its neighbour."""
    before = [f"As an assistant I can offer general remark number {n}." for n in range(9)]
    after = [f"Please ask your pharmacist about item {n}." for n in range(9)]
    verdict = "There is no evidence that hot water cures influenza."
    joined, window = read(" ".join([*before, verdict, *after]))
    assert joined.startswith(before[0])
    assert joined.endswith(after[-1])
    assert verdict in joined
    assert window in {f"{before[-1]} {verdict}", f"{verdict} {after[0]}"}


def test_the_window_is_the_one_that_takes_up_most_of_the_claim() -> None:
    """What one sentence quotes and the next refutes is read together."""
    remarks = [f"Remark {n}." for n in range(6)]
    quoted, refuted = "They say that hot water cures it.", "For influenza that is a myth."
    (_, window) = read(" ".join([*remarks, quoted, refuted, *remarks]))
    assert f"{quoted} {refuted}" == window


def test_headings_and_numbers_go_with_what_follows() -> None:
    """Marks of a list are no sentences of their own, and an item of it is one."""
    items = "1. It soothes the throat.\n2. It cures nothing.\n- It is warm.\n- It is cheap."
    joined, _ = read(f"**Key points:**\n\n{items}\n\n**Note:** hot water cures influenza? No.")
    assert joined.startswith("Key points: 1. It soothes the throat. ")
    assert "*" not in joined


@pytest.mark.parametrize(
    ("language", "claim", "verdict", "other"),
    [
        ("zh", "喝热水能治好流感", "没有证据表明喝热水能治好流感。", "多休息对身体有好处。"),
        ("hi", "गर्म पानी से फ्लू ठीक होता है", "गर्म पानी से फ्लू ठीक नहीं होता।", "आराम करना अच्छा है।"),
        (
            "ar",
            "الماء الساخن يشفي من الإنفلونزا",
            "الماء الساخن لا يشفي من الإنفلونزا.",
            "الراحة مفيدة.",
        ),
    ],
)
def test_in_every_script(language: str, claim: str, verdict: str, other: str) -> None:
    """Runs of characters need no spaces between words."""
    around = [other.replace(other[-1], f" {n}{other[-1]}") for n in range(8)]
    joined, window = read(" ".join([*around, verdict, *around[::-1]]), language, claim)
    assert verdict in joined
    assert verdict in window


def test_a_text_counts_by_how_much_it_takes_a_side() -> None:
    """One that says nothing of the claim does not drown the other; alone each is what it is."""
    order = [("agree", "disagree", "neutral").index(stance) for stance in STANCES]
    neutral, sided = np.array([[0.04, 0.06, 0.9], [0.1, 0.8, 0.1]])[:, order]
    both = combined(np.array([neutral, sided]))
    assert "disagree" == STANCES[int(both.argmax())]
    assert both.sum() == pytest.approx(1)
    assert combined(np.array([neutral])) == pytest.approx(neutral)
    assert combined(np.array([sided, sided])) == pytest.approx(sided)


def test_both_sides_stay_undecided() -> None:
    """Texts that are as sure of opposite stances leave neither ahead."""
    order = [("agree", "disagree", "neutral").index(stance) for stance in STANCES]
    rows = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])[:, order]
    both = dict(zip(STANCES, combined(rows).tolist(), strict=True))
    assert both["agree"] == pytest.approx(both["disagree"])
