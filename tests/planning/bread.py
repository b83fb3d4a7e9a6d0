"""The benchmark ``bread`` of tests: its files, and settings as a user would give them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.config.option import Sources
from pytest_xling.config.settings import settle
from pytest_xling.languages import find
from pytest_xling.planning.benchmark import open_benchmark
from pytest_xling.planning.plan import plan
from pytest_xling.planning.prompts import Prompts
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_xling.config.settings import Settings
    from pytest_xling.planning.benchmark import Benchmark
    from pytest_xling.planning.plan import Case

CHAT = 'chat: "{question}"\n'


@dataclass(frozen=True)
class Bread:
    """A benchmark below a folder."""

    root: Path

    def write(self, ids: Mapping[str, Sequence[str]], prompts: str = CHAT) -> Benchmark:
        """Write and open it with ``set:id`` by language, in the order of the file."""
        folder = self.root / "bread"
        (folder / "data").mkdir(parents=True, exist_ok=True)
        (folder / "prompts.yaml").write_text(prompts, encoding="utf-8")
        for language, names in ids.items():
            lines = ""
            for name in names:
                of_set, _, sample_id = name.rpartition(":")
                row = {"id": sample_id, "set": of_set or "agnostic", "category": "food"}
                row |= {"source": "made up", "question": f"Why {sample_id}?"}
                lines += json.dumps(row) + "\n"
            (folder / "data" / f"{language}.jsonl").write_text(lines, encoding="utf-8")
        return open_benchmark(folder, data={})

    def settings(self, **given: Any) -> Settings:
        """Settle options as the command line gives them: ``settings(langs="hi,zh", limit=3)``."""
        return settle(
            Sources(
                cli={f"xling_{name}": value for name, value in {"model": "m", **given}.items()},
                environ={},
                rootdir=self.root,
                cwd=self.root,
                language_code=lambda name: find(name).code,
            )
        )

    def plan(
        self, ids: Mapping[str, Sequence[str]], prompts: str = CHAT, **given: Any
    ) -> list[Case]:
        """Write it and plan a run with these options."""
        return plan(self.write(ids, prompts), self.settings(**given))

    def prompts(self, text: str) -> Prompts:
        """Read a prompts.yaml with this text; with a chat prompt where it has none."""
        path = self.root / "prompts.yaml"
        chat = "" if "chat" in text or text == "{}" else f"\n{CHAT}"
        path.write_text(f"{text}{chat}", encoding="utf-8")
        return Prompts.read(path)


def level_templates(code: str, *, templates: int = 2) -> str:
    """Return the templates of one language as they stand below ``levels:``."""
    rows = [f"  {code}:"]
    for level in LEVELS:
        rows += [f"    {level}:", *(f'      - "{n} {{claim}}?"' for n in range(templates))]
    return "\n".join(rows) + "\n"
