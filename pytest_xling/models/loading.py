"""Load models with Hugging Face's libraries, which neither write to the terminal nor run code."""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_xling.errors import XlingError

_SHOWN = 3
_UNBOUNDED = 1 << 20
"""Tokenizers without a limit say so with a huge number."""
_DEFAULT = 512
_LEAST = 8

# Whatever is wrong with a directory's files comes out of the libraries as one of these.
_BROKEN = (AttributeError, ImportError, KeyError, OSError, RuntimeError, TypeError, ValueError)


def check_packages(user: str, packages: Sequence[str] = ("torch", "transformers")) -> None:
    """Check that packages of the extra ``torch`` are installed; imports none.

    Args:
        user: who needs them, with the verb, as the message begins: "encoders need".
        packages: the names they are imported by.

    Raises:
        ConfigError: one is not installed.
    """
    missing = [name.replace("_", "-") for name in packages if find_spec(name) is None]
    if missing:
        msg = (
            f"{user} {' and '.join(missing)}: pip install 'pytest-xling[torch]' (a bare torch may "
            "bring gigabytes for CUDA along; torch==2.13.0, as constraints.txt has it, does not)"
        )
        raise ConfigError(msg)


@contextmanager
def loading(what: str, *, fault: type[XlingError] = ConfigError) -> Iterator[None]:
    """Load something of a model quietly, and without warnings.

    Filters of warnings belong to the whole process, so this may take a warning of a test that ends
    meanwhile; a model is loaded once.

    Args:
        what: begins the message where that fails: "encoder 'x': its tokenizer".
        fault: is raised then.

    Raises:
        XlingError: *fault*; the files are damaged, or of something else.
    """
    from safetensors import SafetensorError  # noqa: PLC0415  comes with transformers

    try:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (*_BROKEN, SafetensorError) as error:
        why = printable(str(error), limit=200)
        msg = f"{what} cannot be loaded ({type(error).__name__}): {why}"
        raise fault(msg) from error


def load_tokenizer(directory: Path, *, name: str) -> Any:  # noqa: ANN401  transformers' are dynamic
    """Return the tokenizer in *directory*.

    Args:
        directory: of the model.
        name: what messages call the model.

    Raises:
        ConfigError: there is none, or it cannot be loaded.
    """
    with loading(f"{name}: its tokenizer"):
        from transformers import AutoTokenizer  # noqa: PLC0415  a second to import

        tokenizer: Any = AutoTokenizer.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        # transformers makes one that knows no word where the files are not there.
        msg = f"{name}: has no tokenizer; save it there, too"
        raise ConfigError(msg)
    return tokenizer


def max_tokens(directory: Path, *, name: str) -> int:
    """Return how many tokens a transformer takes, special ones included; reads settings only.

    Args:
        directory: where its settings are.
        name: what messages call the model.

    Raises:
        ConfigError: its settings cannot be used.
    """
    with loading(f"{name}: its settings in config.json"):
        from transformers import AutoConfig  # noqa: PLC0415  an extra, and a second to import

        config: Any = AutoConfig.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
    limits = [_UNBOUNDED]
    try:
        text = (directory / "tokenizer_config.json").read_text(encoding="utf-8")
        limits.append(int(json.loads(text).get("model_max_length") or _UNBOUNDED))
    except (OSError, ValueError, TypeError, AttributeError, OverflowError):
        pass  # the tokenizer, once loaded, says what is wrong with it
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin count positions from behind the id of the padding.
        padding = config.pad_token_id if _counts_from_padding(str(config.model_type)) else None
        limits.append(positions - (0 if padding is None else int(padding) + 1))
    limit = min(limits)
    if limit < _LEAST:
        msg = f"{name}: takes only {limit} tokens; see its config.json"
        raise ConfigError(msg)
    return _DEFAULT if limit == _UNBOUNDED else limit


def load_model(
    kind: Any,  # noqa: ANN401  as above
    directory: Path,
    *,
    dtype: Any,  # noqa: ANN401  torch's, or "auto"
    **options: Any,
) -> tuple[Any, list[str]]:
    """Return the model in *directory*, and which of its weights are not there.

    Args:
        kind: the class of transformers that loads it.
        directory: of the model; nothing is fetched, and no code in it is run.
        dtype: of its weights.
        options: what else transformers is to know.
    """
    model, report = kind.from_pretrained(
        directory,
        dtype=dtype,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        output_loading_info=True,
        **options,
    )
    return model, sorted(report["missing_keys"])


def listed(names: Sequence[str]) -> str:
    """Return the first few of *names* for a message."""
    return f"{', '.join(names[:_SHOWN])}{' and others' if len(names) > _SHOWN else ''}"


@contextmanager
def quiet() -> Iterator[None]:
    """Show no progress bars and no log below errors; all is as before afterwards.

    What the log would say of missing weights, the loader checks itself.
    """
    bars = _logging().is_progress_bar_enabled()
    _show_bars(shown=False)
    try:
        with quiet_log():
            yield
    finally:
        if bars:
            _show_bars(shown=True)


@contextmanager
def quiet_log() -> Iterator[None]:
    """Keep transformers' log below errors out of the terminal."""
    logging = _logging()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def _show_bars(*, shown: bool) -> None:
    logging = _logging()
    with warnings.catch_warnings():
        # It warns where the environment has decided already: HF_HUB_DISABLE_PROGRESS_BARS.
        warnings.simplefilter("ignore", UserWarning)
        if shown:
            logging.enable_progress_bar()
        else:
            logging.disable_progress_bar()


def _logging() -> Any:  # noqa: ANN401  half of it has no types
    return import_module("transformers.utils.logging")  # a second to import


def _counts_from_padding(kind: str) -> bool:
    return "roberta" in kind or kind in {"camembert", "data2vec-text", "longformer", "mpnet"}
