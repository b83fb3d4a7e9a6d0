"""One small run whose tables can be worked out by hand."""

from __future__ import annotations

from pytest_xling.records import Threshold
from tests.runs import Asked

ENGLISH = (
    "Ice floats because frozen water takes up more room than liquid water of the same weight, "
    "so every litre of it is lighter than the lake around it."
)
HINDI = (
    "बर्फ़ पानी पर इसलिए तैरती है क्योंकि जमने पर पानी फैल जाता है और उतने ही भार के लिए "
    "ज़्यादा जगह लेता है, इसलिए वह अपने आसपास के पानी से हल्की होती है।"
)
LOOP = (
    "the water in the lake turns to ice when winter comes and the children go out to skate "
    "on it with their friends "
) * 6
HOSTILE = (
    "[bold red]not markup[/bold red] [link=http://x]no link[/link] :smile: "
    "\x1b[31mred\x1b[0m\x1b]0;title\x07 \x00 \u202eabc <b>&amp;</b> ]]> "
)
METRICS = ("no_answer", "wrong_language", "repetition", "answer_length", "emoji")

# What a table must say of it stands in test_tables.py.
STORY = (
    Asked(id="q1", language="en", text=ENGLISH, question="Why does ice float?"),
    Asked(id="q2", language="en", text=f"{ENGLISH} It is as simple as that."),
    Asked(id="q3", language="en", text=LOOP),
    Asked(id="q4", language="en", text=None, stop_reason="error", error="500 from upstream"),
    Asked(id="q1", language="hi", text=HINDI, question="बर्फ़ पानी पर क्यों तैरती है?"),
    Asked(id="q2", language="hi", text=ENGLISH + HOSTILE, question="रोटी ताज़ा कैसे रहे?"),
    Asked(id="q3", language="hi", text=LOOP),
    Asked(id="q4", language="hi", text=""),
    Asked(id="q1", language="rn", text=LOOP),
    Asked(id="q2", language="rn", text="Ibarafu rireremba ku mazi kuko ryoroshe."),
    Asked(id="s1", language="hi", text=HINDI, set="specific"),
)


def _gate(metric: str, language: str, **limits: float) -> Threshold:
    return Threshold(
        benchmark="culture",
        metric=metric,
        language=language,
        max_rate=limits.get("max_rate"),
        ceiling=limits.get("ceiling"),
        min_n=1,
        on_inconclusive="warn",
        origin="thresholds.yaml:7",
    )


GATES = (
    *(_gate("wrong_language", code, max_rate=0.0) for code in ("en", "hi", "rn")),
    *(_gate("repetition", code, max_rate=0.5) for code in ("en", "hi")),
    _gate("no_answer", "en", max_rate=0.99),
    _gate("answer_length", "en", ceiling=5000),
)
