"""A review as Label Studio reads it: tasks to import and a labelling configuration.

The formats are those of https://labelstud.io/guide/tasks ("Basic Label Studio JSON format") and
https://labelstud.io/tags. The judge's label is in neither, so that nobody is led by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from pytest_xling.reports.review.document import Review
    from pytest_xling.reports.review.scheme import Scheme

LABEL: Final = "label"
REASON: Final = "reason"
"""Names of the two controls; what raters say is exported under them."""
CANNOT_TELL: Final = "cannot tell"
_SHOWN: Final = (
    ("question", "Question"),
    ("claim", "Claim"),
    ("veracity", "The claim is"),
    ("reference", "Reference"),
    ("answer", "Answer"),
)
# As much as the page does: each paragraph in its own direction, line breaks kept.
_STYLE: Final = (
    ".htx-text { white-space: pre-wrap; unicode-bidi: plaintext; overflow-wrap: anywhere; }"
)


_REASON: Final = 'editable="true" placeholder="Reason, if you like"'


def label_studio_tasks(review: Review) -> list[dict[str, Any]]:
    """Return the tasks, one per item."""
    scheme = review.scheme
    return [
        {
            "data": {
                "review": review.id,
                "run": review.run.run_id,
                "benchmark": scheme.benchmark,
                "metric": scheme.metric,
                "case": item.judged.case_id,
                "language": item.judged.language,
                "weight": item.weight,
                "question": item.question,
                "claim": item.claim,
                "veracity": item.veracity,
                "reference": item.reference,
                "answer": item.answer,
                "digest": item.digest,
            }
        }
        for item in review.items
    ]


def label_studio_config(review: Review) -> str:
    """Return the labelling configuration: XML to paste into a project's labelling interface."""
    scheme = review.scheme
    parts = [
        (name, head)
        for name, head in _SHOWN
        if name == "answer" or any(getattr(item, name) for item in review.items)
    ]
    lines = ["<View>", f"  <Style>{_STYLE}</Style>"]
    for name, head in parts:
        lines += [
            f"  <Header value={_quoted(head)}/>",
            f'  <Text name="{name}" value="${name}" valueType="text"/>',
        ]
    lines += [
        f"  <Header value={_quoted(scheme.question)}/>",
        f'  <Choices name="{LABEL}" toName="answer" choice="single-radio" required="true">',
        *_choices(scheme),
        "  </Choices>",
        f'  <TextArea name="{REASON}" toName="answer" rows="3" maxSubmissions="1" {_REASON}/>',
        "</View>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _choices(scheme: Scheme) -> list[str]:
    options = [(name, scheme.meanings[name]) for name in scheme.labels]
    return [
        f'    <Choice value={_quoted(name)} hotkey="{key % 10}" hint={_quoted(meaning)}/>'
        for key, (name, meaning) in enumerate(options, start=1)
    ] + [f'    <Choice value={_quoted(CANNOT_TELL)} hotkey="0"/>']


def _quoted(text: str) -> str:
    """Quote an attribute; a ``$`` would be read as a field of the task."""
    return quoteattr(text.replace("$", "＄"))
