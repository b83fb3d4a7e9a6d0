"""Look into JSON that the store keeps as text, in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Float, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.sql.compiler import SQLCompiler


class text_at(FunctionElement[Any]):  # noqa: N801  a function of SQL
    """The text at a path, such as ``$.usage[1]``; NULL where there is none.

    Of an object that is its JSON.
    """

    inherit_cache = True
    type = Text()

    def __init__(self, column: ColumnElement[str], path: str) -> None:
        super().__init__(column, path)


class number_at(FunctionElement[Any]):  # noqa: N801  likewise
    """The number at a path; NULL where there is none."""

    inherit_cache = True
    type = Float()

    def __init__(self, column: ColumnElement[str], path: str) -> None:
        super().__init__(column, path)


@compiles(text_at, "sqlite")
@compiles(number_at, "sqlite")
def _sqlite(element: FunctionElement[Any], compiler: SQLCompiler, **kw: Any) -> str:
    column, path = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"json_extract({column}, {path})"


@compiles(text_at, "postgresql")
def _text(element: text_at, compiler: SQLCompiler, **kw: Any) -> str:
    column, path = (compiler.process(clause, **kw) for clause in element.clauses)
    return _at(column, f"CAST({path} AS TEXT)")


@compiles(number_at, "postgresql")
def _number(element: number_at, compiler: SQLCompiler, **kw: Any) -> str:
    column, path = (compiler.process(clause, **kw) for clause in element.clauses)
    # The server may look at rows before it leaves them out, and in those there are other things.
    numbers = f"""(CAST({path} AS TEXT) || ' ? (@.type() == "number")')"""
    return f"CAST({_at(column, numbers)} AS DOUBLE PRECISION)"


def _at(column: str, path: str) -> str:
    # jsonb takes all of JSON but \u0000. An even number of backslashes before it are other ones.
    nul = r"regexp_replace({0}, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')"
    known = (
        rf"CASE WHEN position('\u0000' IN {column}) > 0 THEN {nul.format(column)} ELSE {column} END"
    )
    return (
        f"(jsonb_path_query_first(CAST({known} AS JSONB), CAST('strict ' || {path} AS JSONPATH),"
        " '{}', true) #>> '{}')"
    )
