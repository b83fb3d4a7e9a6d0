"""What a session says of itself before it begins: its name, and who takes part."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from pytest_xling.config.options import option
from pytest_xling.files.whole import display_path

if TYPE_CHECKING:
    from datetime import datetime

    from pytest_xling.config.settings import Settings

__all__ = ["asked_beside", "kept_in", "made_up_name"]


def asked_beside(settings: Settings) -> str:
    """Say who else takes part, where it was said; "" where it was not."""
    parts = {
        "judge": settings.judge,
        "translator": settings.translator,
        "encoder": None if settings.encoder == option("encoder").default else settings.encoder,
        "stances by": None if settings.stance == option("stance").default else settings.stance,
        "text in": "English" if settings.text_in == "english" else None,
    }
    said = "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)
    return f"xling: {said}" if said else ""


def kept_in(settings: Settings) -> str:
    """Say which limits are in force, and where everything is kept."""
    thresholds = "none" if settings.thresholds is None else display_path(settings.thresholds)
    return f"xling: thresholds {thresholds}; store {display_path(settings.store)}"


def made_up_name(model: str, now: datetime) -> str:
    """Return a name that says when and what, and is new: ``20261121-094103-gpt-4o-3f2a``."""
    short = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-")[:32]
    return f"{now:%Y%m%d-%H%M%S}-{short}-{secrets.token_hex(2)}"
