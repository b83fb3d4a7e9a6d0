"""Say in a table what a run would ask and cost."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from pytest_xling.reports.matrix import language_label
from pytest_xling.text.numbers import dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.planning.dry_run import LanguageEstimate


def dry_run_text(
    rows: Sequence[LanguageEstimate],
    *,
    model: str,
    paid: bool,
    price: tuple[float, float] | None,
    sources: Mapping[str, Iterable[str]],
) -> str:
    """Return the estimate as text of at most 80 columns; nothing of prices where nobody is *paid*.

    *sources* say what the lengths of answers were taken from, and for which languages.
    """
    bound = set(sources) <= {"--xling-max-tokens"}
    most = " <=" if bound else ""
    head = ("language", "requests", "stored", "prompt tok.", f"answer tok.{most}", f"price{most}")
    table = [
        head,
        *(_row(language_label(row.language), [row]) for row in rows),
        _row("all", rows),
    ]
    columns = len(head) if paid else len(head) - 1
    widths = [max(len(line[column]) for line in table) for column in range(columns)]
    lines = [f"xling: dry run for {model}; nothing was asked", ""]
    for number, line in enumerate(table):
        first, *others = line[:columns]
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        if number in (1, len(table) - 1):
            lines.append("  ".join("-" * width for width in widths))
        lines.append("  ".join(cells).rstrip())
    lines.append("")
    lines.append("stored: answered before, not asked again. Tokens by o200k_base; the model's own")
    if bound:
        lines.append("count may differ. Answers count as long as --xling-max-tokens allows.")
    else:
        lines.append("count may differ. Answers count as long as these were on average:")
        for source, languages in sources.items():
            lines += wrap(
                f"{source} ({', '.join(languages)})",
                width=78,
                initial_indent="  ",
                subsequent_indent="    ",
            )
        longest = f"{sum(row.max_completion_tokens for row in rows):,} answer tokens"
        if paid and price is not None:
            longest += f", {dollars(_sum([row.max_cost_usd for row in rows]))}"
        lines.append(f"As long as --xling-max-tokens allows they would take {longest}.")
    lines.append("Not counted: what a judge, a translator or a search is asked about the answers,")
    lines.append("and each judge about labelled ones: per language some 90, once, to measure it,")
    lines.append("and up to 30 in each later run.")
    if not paid:
        lines.append("Asking this model is free.")
    elif price is None:
        lines.append(
            "For the cost, give the price in US dollars per million tokens, in and out, such"
        )
        lines.append("as --xling-price=MODEL=2.5,10.")
    return "\n".join(lines)


def _row(name: str, rows: Sequence[LanguageEstimate]) -> tuple[str, ...]:
    counts = (
        sum(row.requests for row in rows),
        sum(row.stored for row in rows),
        sum(row.prompt_tokens for row in rows),
        sum(row.completion_tokens for row in rows),
    )
    costs = [row.cost_usd for row in rows]
    return (name, *(f"{count:,}" for count in counts), dollars(_sum(costs)))


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
