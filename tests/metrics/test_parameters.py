"""Parameters of metrics that are refused before anything is asked or loaded."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.registry import load

EMPATHY = "--xling-param=empathy="
STANCE = "--xling-param=stance="
NONE = "no such annotator"
COLON = "'llm' takes nothing after a colon. Its model is the one of --xling-judge"


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("bertscore", {"layer": -1}, "layer must be a whole number"),
        ("bertscore", {"layer": 1.5}, "layer must be a whole number"),
        ("bertscore", {"layer": True}, "layer must be a whole number"),
        ("bertscore", {"baseline": "a.tsv"}, "add rescale=true"),
        ("english_words", {"rule": "lbc"}, "rule must be prose or lcb, not 'lbc'. Did you mean"),
        ("factuality_f1_at_k", {"k": 0}, "k must be at least 1, not 0"),
        ("information", {"gamma": -1}, "information: gamma"),
        ("information", {"max_unjudged": 1.0}, "max_unjudged"),
        ("repetition", {"length": 0}, "repetition: "),
        ("repetition", {"times": 1}, "repetition: "),
        ("sim_hdp", {"fits": 0}, "sim_hdp: fits must be"),
        ("sim_hdp", {"iterations": 0}, "sim_hdp: iterations must be"),
        ("sim_hdp", {"min_df": 0}, "sim_hdp: min_df must be"),
        ("sim_hdp", {"max_df": 0.0}, "sim_hdp: max_df must be"),
        ("sim_hdp", {"max_df": 1.5}, "sim_hdp: max_df must be"),
        ("thought_language", {"letters": 0}, "thought_language: letters must be"),
        ("thought_language", {"lead": -1.0}, "thought_language: lead must be"),
        (
            "wrong_language",
            {"rule": "calmaq"},
            "rule must be evidence or calmqa, not 'calmaq'. Did you mean 'calmqa'",
        ),
        ("wrong_language", {"letters": 0}, "letters must be above 0, not 0"),
        ("wrong_language", {"lead": float("nan")}, "lead must be above 0, not nan"),
        ("wrong_line", {"lead": 0}, "wrong_line: lead must be above 0"),
        ("wrong_line", {"lead": -1}, "wrong_line: lead must be above 0"),
        ("wrong_line", {"lead": float("nan")}, "wrong_line: lead must be above 0"),
    ],
)
def test_what_leaves_nothing_or_is_none_of_the_choices(
    name: str, fields: dict[str, Any], said: str
) -> None:
    """The metric cannot be made."""
    with pytest.raises(ConfigError) as caught:
        load("metric", name)(**fields)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "annotator", "said"),
    [
        ("empathy", "hed", f"{EMPATHY}hed: {NONE}. Did you mean 'head'"),
        ("empathy", "nli:x", f"{EMPATHY}nli:x: {NONE}"),
        ("empathy", "llm:gpt", f"{EMPATHY}llm:gpt: {COLON}"),
        ("empathy", "head:", f"{EMPATHY}head:: name the folder"),
        ("stance", "raeder", f"{STANCE}raeder: {NONE}. Did you mean 'reader'? Known: reader"),
        ("stance", "", f"{STANCE}: {NONE}. Known: reader, reader:DIR, llm, nli:MODEL"),
        ("stance", "nli", f"{STANCE}nli: name the model after the colon, such as nli:"),
        ("stance", "nli: ", f"{STANCE}nli: : name the model after the colon"),
        ("stance", "llm:gpt-4o", f"{STANCE}llm:gpt-4o: {COLON}."),
        ("stance", "reader:", f"{STANCE}reader:: name the folder after the colon"),
        *(("support", how, "--xling-param=support=") for how in ("lm", "nli", "nli:", "llm:gpt")),
    ],
)
def test_an_annotator_there_is_not(name: str, annotator: str, said: str) -> None:
    """The message names the option."""
    metrics = {"empathy": "explorations", "stance": "factual_accuracy", "support": "information"}
    with pytest.raises(ConfigError) as caught:
        load("metric", metrics[name])(**{name: annotator}).check()
    assert said in str(caught.value)
