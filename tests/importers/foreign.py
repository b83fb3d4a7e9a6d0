"""Small data of every layout, in our own words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from openpyxl import Workbook

from tests.importers.lcb_files import make_clone
from tests.importers.uphill_files import queries, responses, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _calmqa(folder: Path) -> Path:
    for language, kind, flags, text in (
        ("English", "agnostic", 6, "Why does ice float?"),
        ("Hindi", "agnostic", 6, "बर्फ़ क्यों तैरती है?"),
        ("Hindi", "specific", 5, "होली कब होती है?"),
    ):
        texts = {"English": {"text": "Why does ice float?"}, language: {"text": text}}
        question = {"name": f"{kind}:0", "type": flags, "source": "ELI5", "translations": texts}
        human = {"prompting_state": {"model_name": "Human"}, "translations": texts}
        entries = {"entries": [{"question": question, "answers": [human]}]}
        (folder / f"dataset-{kind}-{language.lower()}.json").write_text(json.dumps(entries))
    return folder


def _claims(folder: Path) -> Path:
    forms = {"claim": "ice floats", "question": "Does ice float?", "topic": "floating ice"}
    facts = {"veracity": "true", "category": "ice", "source": "a book", "reason": "It is light."}
    claim = {"id": "c1", **facts, "texts": {"en": forms, "hi": forms}, "machine": ["hi"]}
    (folder / "claims.jsonl").write_text(json.dumps(claim))
    return folder


def _epitome(folder: Path) -> Path:
    head = "sp_id,rp_id,seeker_post,response_post,level,rationales,language\n"
    rows = "p/1,r1,I missed the train.,That is hard.,2,hard,en\np/1,r1,Ho perso.,Oh.,0,,it\n"
    (folder / "interpretations-reddit.csv").write_text(head + rows)
    return folder


def _mmlu(folder: Path) -> Path:
    row = "Why does ice float?,It is light.,It is wet.,It is cold.,It is wet.,A\n"
    for language in ("en", "hi"):
        (folder / f"mmlu_{language}.csv").write_text(row)
    return folder


def _rows(folder: Path) -> Path:
    row = {"id": "a", "question": "Why does ice float?", "wrong": ["It is wet.", None], "x": "y"}
    (folder / "en.jsonl").write_text(json.dumps(row))
    (folder / "es.csv").write_text("question,parallel_id\n¿Por qué flota el hielo?,a\n")
    return folder


def _uphill(folder: Path) -> Path:
    rows = [*queries("c1", "false"), *queries("c 2", "true")]
    write_csv(folder / "UPHILL.csv", responses(rows, model="gpt-4", texts=["Yes.", "No."]))
    return folder


def _xlinghealth(folder: Path) -> Path:
    header = ["id", "label", "answer_ids", "question_English", "answer_English"]
    book = Workbook()
    sheet = book.create_sheet("Sheet1", 0)
    sheet.append([*header, "question_Hindi", "answer_Hindi"])
    for row in (
        (0, 1, 0, "What is iron?", "A metal.", "लोहा क्या है?", "एक धातु।"),
        (0, 0, 7, "What is iron?", "A gas.", "लोहा क्या है?", None),
        (0, 0, 8, "What is iron?", "A fish.", "लोहा क्या है?", "एक मछली।"),
    ):
        sheet.append(row)
    book.save(folder / "Small.xlsx")
    return folder


FOREIGN: dict[str, Callable[[Path], Path]] = {
    "calmqa": _calmqa,
    "claims": _claims,
    "epitome": _epitome,
    "lcb": lambda folder: make_clone(folder / "clone"),
    "mmlu": _mmlu,
    "rows": _rows,
    "uphill": _uphill,
    "xlinghealth": _xlinghealth,
}
"""What writes data of a layout into a folder, and returns where it is."""
