"""Categories of questions by a judge, and how far it agrees with those that are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.analysis.calibration import calibrate
from pytest_xling.analysis.labelled import bundled_labels
from pytest_xling.records import Answer, Response
from pytest_xling.stats.kappa import cohen_kappa
from pytest_xling.store.measurements import calibration_of
from pytest_xling.text.categories import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.engine.run import Run
    from pytest_xling.records import Sample
    from pytest_xling.stats.kappa import Kappa
    from pytest_xling.store.database import Database
    from pytest_xling.store.measurements import Calibration

ANNOTATOR: Final = "category_llm"
_NAMES: Final = frozenset(CATEGORIES.values())
_NONE: Final = ""
"""Stands for no category; that of a judge differs from all that are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCategories:
    """Samples with the categories a judge gives them."""

    samples: tuple[Sample, ...]
    """In the order given; where there is no category the field is not in the metadata."""
    without: Mapping[str, int]
    """How many have no category, by the reason."""
    foreign: tuple[str, ...]
    """Given categories that the judge does not know: with another scheme nothing is compared."""
    given: Kappa
    """How far the judge agrees with the categories that came with the questions."""
    given_in: Mapping[str, Kappa]
    """The same by language."""
    measured_in: Mapping[str, Calibration]
    """How well it does on labelled questions, by language; some languages have none."""

    def described(self, judge: str) -> dict[str, Any]:
        """Return what a table says of categories that *judge* gave, and how far it was measured."""
        given = self.given
        parts = [f"judge {judge}"]
        if given.n:
            words = given.reason if given.value is None else f"κ={given.value:.2f}"
            if given.low is not None and given.high is not None:
                words += f" ({given.low:.2f} to {given.high:.2f})"
            parts.append(f"agrees with {given.n} given: {given.agreement:.2f} equal, {words}")
        elif self.foreign:
            parts.append(f"those given are of another scheme, as {self.foreign[0]!r}")
        else:
            parts.append("nothing given to compare with")
        if self.measured_in:
            on_labelled = ", ".join(
                f"{language} {'–' if (k := known.quality.kappa.value) is None else f'{k:.2f}'}"
                f" (n={known.quality.n})"
                for language, known in self.measured_in.items()
            )
            parts.append(f"κ on labelled questions: {on_labelled}")
        measured = {code for code, kappa in self.given_in.items() if kappa.n} | {*self.measured_in}
        if unmeasured := sorted(self.given_in.keys() - measured):
            parts.append(f"unmeasured in {', '.join(unmeasured)}")
        lacking = "" if self.samples else ": no questions were asked"
        if self.without:
            reason = max(self.without, key=lambda each: self.without[each])
            number = sum(self.without.values())
            parts.append(f"{number} of {len(self.samples)} questions have none ({reason})")
            lacking = f"; {parts[-1]}"
        kappas = {language: kappa.value for language, kappa in self.given_in.items()}
        return {"source": "; ".join(parts), "kappas": kappas, "lacking": lacking}


async def judged_categories(
    run: Run, database: Database, samples: Sequence[Sample], *, field: str
) -> JudgedCategories:
    """Have the judge of *run* put each sample's question into a category, and measure that judge.

    It is measured on the categories that samples come with, where all are of its scheme, and on
    labelled questions: on those that come along in the languages in which nobody has measured it
    before. What it has said of a question before is not asked again.

    Args:
        run: annotates.
        database: the store.
        samples: those without a question get no category.
        field: of the metadata, where the category is, or is to be.

    Raises:
        XlingError: the judge did not answer; what it said so far is kept.
    """
    blank = Response(text="", stop_reason="stop")
    answers = [Answer(sample=sample, response=blank) for sample in samples]
    signature, annotated = await run.annotated(ANNOTATOR, answers)
    values: list[Any] = list(annotated)
    known = [sample.metadata.get(field, "").strip().casefold() for sample in samples]
    foreign = tuple(sorted({*known} - _NAMES - {_NONE}))
    languages = sorted({sample.language for sample in samples})

    def agreement(indices: Sequence[int]) -> Kappa:
        both = [i for i in indices if known[i] and not foreign]
        return cohen_kappa(
            [known[i] for i in both],
            [values[i]["category"] or _NONE for i in both],
            clusters=[samples[i].parallel_id or samples[i].id for i in both],
        )

    return JudgedCategories(
        samples=tuple(
            replace(sample, metadata=_with_category(sample.metadata, field, value["category"]))
            for sample, value in zip(samples, values, strict=True)
        ),
        without=Counter(value["reason"] for value in values if value["category"] is None),
        foreign=foreign,
        given=agreement(range(len(samples))),
        given_in={
            language: agreement([i for i, s in enumerate(samples) if s.language == language])
            for language in languages
        },
        measured_in=await _measured(run, database, signature=signature, languages=languages),
    )


def _with_category(metadata: Mapping[str, str], field: str, category: str | None) -> dict[str, str]:
    others = {key: value for key, value in metadata.items() if key != field}
    return others | ({field: category} if category else {})


async def _measured(
    run: Run, database: Database, *, signature: str, languages: Sequence[str]
) -> dict[str, Calibration]:
    """Return how well the judge does on labelled questions; first measure where nobody has."""

    def stored() -> dict[str, Calibration]:
        with database.read() as connection:
            calibrations = {
                code: calibration_of(connection, signature=signature, language=code)
                for code in languages
            }
        return {code: known for code, known in calibrations.items() if known is not None}

    labelled = bundled_labels("category")
    before = stored()
    if missing := [c for c in languages if c not in before and c in labelled.languages]:
        await calibrate(run, database, annotator=ANNOTATOR, labelled=labelled, languages=missing)
    return stored()
