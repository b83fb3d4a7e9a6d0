"""The rows of one table, whatever its format: CSV, TSV, JSON, Parquet, Arrow, a split of a hub."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.strict_json import parse, read_text
from pytest_xling.files.tables import Place, json_lines, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_xling.files.tables import TableRow
    from pytest_xling.interfaces.importer import DataMap

JSONL = ".jsonl"
SUFFIXES = (JSONL, ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file, a data set on disk or a split of a hub's."""

    file: Path
    language: str | None = None
    """None where its rows or columns tell."""
    subset: str = ""
    split: str = ""


def rows_of(table: Table, data: DataMap) -> Iterator[TableRow]:
    """Yield the places and cells of the rows of *table*.

    Raises:
        ConfigError: what reads the format is not installed.
        DataError: names the file, the line or row, and the fix; or there is no row.
    """
    file, suffix = table.file, table.file.suffix.lower()
    if data.hub:
        rows = _numbered(file, _hub_rows(table, data))
    elif is_saved(file):
        rows = _numbered(file, _saved_rows(file, table.split))
    elif suffix == ".parquet":
        rows = _numbered(file, _parquet_rows(file))
    elif suffix == JSONL:
        rows = json_lines(file)
    else:
        rows = table_rows(file, required=(), numbered=not data.header, quotes=data.quotes)
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        msg = f"{file}: the file is empty; write one sample a line, or remove the file"
        raise DataError(msg)


def is_saved(folder: Path) -> bool:
    """Tell whether *folder* is what ``save_to_disk`` of Hugging Face's datasets writes."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


@contextmanager
def hub_errors(data: DataMap) -> Iterator[Any]:
    """Lend Hugging Face's datasets, and name the data set in what it raises.

    Raises:
        ConfigError: it is not installed.
        DataError: there is no such data set, or it cannot be reached.
    """
    try:
        import datasets  # noqa: PLC0415  an extra, and slow
    except ImportError as error:
        raise _lacking(data.hub, "datasets", error) from error
    datasets.disable_progress_bars()
    try:
        yield datasets
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        msg = (
            f"{data.origin.get('hub', data.hub)}: {data.hub} cannot be read: {error}; check hub, "
            "subset, split and revision"
        )
        raise DataError(msg) from error


def _numbered(file: Path, rows: Iterable[dict[str, Any]]) -> Iterator[TableRow]:
    for number, row in enumerate(rows, start=1):
        yield Place(file=file, number=number, unit="row"), row


def _hub_rows(table: Table, data: DataMap) -> Iterator[dict[str, Any]]:
    with hub_errors(data) as datasets:
        yield from datasets.load_dataset(
            data.hub, table.subset or None, split=table.split, revision=data.revision or None
        )


def _parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  an extra
    except ImportError as error:
        raise _lacking(file, "pyarrow", error) from error
    try:
        with parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(batch_size=1024):
                yield from batch.to_pylist()
    except (OSError, ArrowException) as error:
        msg = f"{file}: cannot be read as Parquet ({error}); write it anew, or as CSV"
        raise DataError(msg) from error


def _saved_rows(folder: Path, split: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a data set on disk; Arrow is enough for that."""
    listing = folder / "dataset_dict.json"
    if listing.is_file():
        splits = _listed(listing, "splits")
        if split not in splits:
            msg = (
                f"{folder}: the data set has the splits {', '.join(map(str, splits))}; say which "
                "is meant in prompts.yaml: `data: {split: …}`"
            )
            raise DataError(msg)
        folder /= split
    try:
        from pyarrow import ArrowException, ipc, memory_map  # noqa: PLC0415  an extra
    except ImportError as error:
        raise _lacking(folder, "pyarrow", error) from error
    for entry in _listed(folder / "state.json", "_data_files"):
        file = folder / Path(entry["filename"]).name
        try:
            with memory_map(str(file)) as mapped, ipc.open_stream(mapped) as stream:
                for batch in stream:
                    yield from batch.to_pylist()
        except (OSError, ArrowException) as error:
            msg = f"{file}: cannot be read as Arrow ({error}); save the data set anew"
            raise DataError(msg) from error


def _listed(file: Path, key: str) -> list[Any]:
    listing = parse(read_text(file), where=str(file))
    listed = listing.get(key) if isinstance(listing, dict) else None
    if not isinstance(listed, list):
        msg = f"{file}: has no list {key!r}; save the data set anew"
        raise DataError(msg)
    return listed


def _lacking(data: Path | str, package: str, error: ImportError) -> ConfigError:
    extra = "hub" if package == "datasets" else "data"
    return ConfigError(
        f"{data}: to read it takes {package}: pip install 'pytest-xling[{extra}]' ({error})"
    )
