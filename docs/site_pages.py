"""Show mkdocs the pages outside docs/, and links as GitHub reads them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

OUTSIDE = {
    "README.md": "README.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    **{
        f"benchmarks/{card.parent.name}.md": card.relative_to(ROOT).as_posix()
        for card in ROOT.glob("benchmarks/*/README.md")
    },
}
"""Pages of the site that lie elsewhere in the repository: page → file."""

_LINK = re.compile(r"\[([^]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
_ROLE = re.compile(r":(?:class|func|meth|mod):<code>~?(?:[\w.]+\.)?(\w+)</code>")


def on_config(config: MkDocsConfig) -> None:
    """Expand folders in the navigation to all of their pages."""
    for entry in config.nav or []:
        for title, folder in entry.items() if isinstance(entry, dict) else ():
            if isinstance(folder, str) and folder.endswith("/"):
                pages = sorted(DOCS.glob(f"{folder}*.md"), key=lambda page: page.stem != "README")
                entry[title] = [page.relative_to(DOCS).as_posix() for page in pages]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that lie outside docs/."""
    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links between files of the repository into links between pages of the site.

    A link to a file that is no page, such as one of the code, becomes plain text. One to nothing
    stays as it is, and mkdocs warns of it.
    """
    here = page.file.src_uri
    folder = (ROOT / OUTSIDE[here] if here in OUTSIDE else DOCS / here).parent
    page_of = {ROOT / source: name for name, source in OUTSIDE.items()}

    def rewritten(link: re.Match[str]) -> str:
        text, target, anchor = link[1], Path(os.path.normpath(folder / link[2])), link[3] or ""
        if target.is_dir() and (target / "README.md").exists():
            target /= "README.md"
        if target.is_relative_to(DOCS):
            name = target.relative_to(DOCS).as_posix()
        elif target in page_of:
            name = page_of[target]
        else:
            return text if target.exists() else link[0]
        return f"[{text}]({os.path.relpath(name, Path(here).parent)}{anchor})"

    return _LINK.sub(rewritten, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Show the roles of reStructuredText in docstrings as code."""
    return _ROLE.sub(r"<code>\1</code>", html)
