"""A review as Label Studio reads it: tasks to import and a labelling configuration.

The formats are those of https://labelstud.io/guide/tasks ("Basic Label Studio JSON format") and
https://labelstud.io/tags. The judge's label is in neither, so that nobody is led by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.reports.review.document import Review

LABEL: Final = "label"
REASON: Final = "reason"
"""Names of the two controls; what raters say is exported under them."""
CANNOT_TELL: Final = "cannot tell"
_SHARED: Final = ("run", "benchmark", "metric")
_OF_ITEM: Final = (
    *("case", "language", "weight", "question", "claim", "veracity", "reference", "answer"),
    "digest",
)
"""All but what the judge said."""
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
    document = review.document
    shared = {"review": document["id"], **{name: document[name] for name in _SHARED}}
    return [
        {"data": shared | {name: item[name] for name in _OF_ITEM}} for item in document["items"]
    ]


def label_studio_config(review: Review) -> str:
    """Return the labelling configuration: XML to paste into a project's labelling interface."""
    document = review.document
    parts = [
        (name, head)
        for name, head in _SHOWN
        if name == "answer" or any(item[name] for item in document["items"])
    ]
    lines = ["<View>", f"  <Style>{_STYLE}</Style>"]
    for name, head in parts:
        lines += [
            f"  <Header value={_quoted(head)}/>",
            f'  <Text name="{name}" value="${name}" valueType="text"/>',
        ]
    lines += [
        f"  <Header value={_quoted(document['asked'])}/>",
        f'  <Choices name="{LABEL}" toName="answer" choice="single-radio" required="true">',
        *_choices(document["labels"]),
        "  </Choices>",
        f'  <TextArea name="{REASON}" toName="answer" rows="3" maxSubmissions="1" {_REASON}/>',
        "</View>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _choices(labels: Sequence[Mapping[str, str]]) -> list[str]:
    return [
        f'    <Choice value={_quoted(label["name"])} hotkey="{key % 10}"'
        f" hint={_quoted(label['meaning'])}/>"
        for key, label in enumerate(labels, start=1)
    ] + [f'    <Choice value={_quoted(CANNOT_TELL)} hotkey="0"/>']


def _quoted(text: str) -> str:
    """Quote an attribute; a ``$`` would be read as a field of the task."""
    return quoteattr(text.replace("$", "＄"))
