"""Templates of prompts: which fields they name, and what keeps them from being filled in."""

from __future__ import annotations

import string


def fields_of(template: str) -> list[str]:
    """Return the fields a template names, in order."""
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


def wrong_with(template: str) -> str:
    """Say what keeps *template* from being filled in with a question; "" if nothing does."""
    if wrong := unreadable(template):
        return wrong
    if not fields_of(template):
        return "needs a template that names a field of the data, such as '{question}'"
    return ""


def unreadable(template: str) -> str:
    """Say what keeps *template* from being filled in, if it has fields; "" if nothing does."""
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        return f"{error}; write '{{{{' and '}}}}' for braces that name no field"
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion or not name.isidentifier()):
            return f"{{{name}}} is no field; write '{{{{' and '}}}}' for braces that name none"
    return ""
