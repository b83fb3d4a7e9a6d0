"""The categories of questions (CaLMQA, section 2 and its released metadata)."""

from __future__ import annotations

from typing import Final

CATEGORIES: Final = {
    "education": "education and career",
    "governance": "governance and society",
    "geography": "geography, tourism, and climate",
    "technology": "technology",
    "economy": "economy and industry",
    "media": "media and entertainment",
    "food": "food and drinks",
    "history": "history",
    "language": "language, art and literature",
    "religion": "religion, beliefs, customs, and traditions",
    "health": "health and wellness",
    "other": "other",
}
"""The word a judge writes, and the category's name in CaLMQA's data."""
