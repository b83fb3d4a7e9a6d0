"""A small real model that runs here: Gemma 3 270M (base) in llama.cpp, on the CPU."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.errors import ConfigError, PermanentFault
from pytest_xling.providers.embedded.file import MODEL, SHA256, check_installed, model_file
from pytest_xling.records import Response, Usage
from pytest_xling.text.display import clean
from pytest_xling.text.first_token import read_first_token

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Request

__all__ = ["EmbeddedProvider"]

_CONTEXT = 4096
_MAX_TOKENS = 256
# One copy of the model takes about 350 MB.
_MAX_COPIES = 8
_SEEDS = 1 << 32  # llama.cpp takes seeds below this; without one it would draw one
_QUIET = -1


class EmbeddedProvider:
    """Continues prompts, the same way every time.

    Each core runs a copy of the model with one thread and one request at a time. Requests batched
    in one copy's slots are hardly faster here (30 tokens a second and core either way), but what is
    in a batch changes how sums are rounded, and so the answer; and threads that share a request
    wait for each other in a loop, which costs most of the speed once a core is busy with
    something else. For the same reason prompts are not cached. So the answer to a request depends
    on nothing but the request, and on the kind of CPU.

    Args:
        spec: empty; there is one model.
        timeout_s: how long one answer may take.
        device: unused; this runs on the CPU.
    """

    name: ClassVar[str] = "embedded"
    style: ClassVar[PromptStyle] = "completion"
    paid: ClassVar[bool] = False
    max_connections: ClassVar[int] = _MAX_COPIES

    def __init__(self, spec: str = "", *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del device
        self._spec = spec
        self._timeout_s = timeout_s
        self._copies = _copies()
        self._free: list[Any] = []
        self._loading = threading.Lock()
        self._stopping = threading.Event()
        self._pool: ThreadPoolExecutor | None = None
        self._turn: asyncio.Semaphore | None = None
        # A copy that is left to the interpreter's end has threads that outlive what they use.
        self._finalizer = weakref.finalize(self, _release, self._free)

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; makes the model's file."""
        if self._spec not in {"", MODEL}:
            msg = f"there is no embedded model {self._spec!r}; write --model=embedded"
            raise ConfigError(msg)
        model_file()

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer: model, program, prompt and parameters."""
        check_installed()
        return {
            "model": MODEL,
            "sha256": SHA256,
            "xllamacpp": version("xllamacpp"),
            "prompt": _prompt(request),
            "params": request.flat_params,
        }

    async def generate(self, request: Request) -> Response:
        """Continue the prompt.

        Raises:
            PermanentFault: the prompt is too long, or the answer takes too long.
        """
        if self._pool is None or self._turn is None:
            self._pool = ThreadPoolExecutor(self._copies, thread_name_prefix="xling-embedded")
            self._turn = asyncio.Semaphore(self._copies)
        cancelled = threading.Event()
        async with self._turn:
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, self._run, request, cancelled)
            finally:
                cancelled.set()  # where the wait was cancelled, the thread stops, too

    def _run(self, request: Request, cancelled: threading.Event) -> Response:
        try:
            copy = self._free.pop()
        except IndexError:
            with self._loading:
                copy = _load()
        try:
            return self._continue(copy, request, cancelled)
        finally:
            self._free.append(copy)

    def _continue(self, copy: Any, request: Request, cancelled: threading.Event) -> Response:  # noqa: ANN401
        start = time.perf_counter()
        parts: list[dict[str, Any]] = []
        late = False

        def take(part: dict[str, Any]) -> bool:
            nonlocal late
            parts.append(part)
            late = time.perf_counter() - start > self._timeout_s
            leaving = self._stopping.is_set() or not threading.main_thread().is_alive()
            return late or leaving or cancelled.is_set()

        copy.handle_completions(_payload(request), take)
        last = parts[-1] if parts else {}
        if error := last.get("error"):
            msg = f"the embedded model refused the prompt: {error.get('message')}"
            raise PermanentFault(msg)
        choices = [part["choices"][0] for part in parts]
        finish = choices[-1]["finish_reason"] if choices else None
        if finish is None:
            reason = (
                f"took more than {self._timeout_s:g} s: raise --xling-timeout or lower "
                "--xling-max-tokens"
                if late
                else "was stopped"
            )
            msg = f"the embedded model's answer {reason}"
            raise PermanentFault(msg)
        usage = last.get("usage", {})
        return Response(
            text=clean("".join(choice["text"] for choice in choices)).strip(),
            stop_reason="length" if finish == "length" else "stop",
            usage=Usage(
                prompt_tokens=usage.get("prompt_tokens", 0),
                completion_tokens=usage.get("completion_tokens", 0),
            ),
            latency_s=time.perf_counter() - start,
            model_version=MODEL,
            # Where they are asked for, each token comes in a part of its own, even one that is held
            # back because it may begin a stop text.
            first_token=read_first_token(choices[0].get("logprobs")),
        )

    async def aclose(self) -> None:
        """Stop what is running and free the model."""
        self._stopping.set()
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown)
            await asyncio.to_thread(_release, self._free)
        self._stopping.clear()


def _copies() -> int:
    """Return how many copies fit: the cores, shared among the workers of pytest-xdist."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return max(1, min(cores // max(1, int(workers)), _MAX_COPIES))


def _load() -> Any:  # noqa: ANN401  xllamacpp has no types
    import xllamacpp  # noqa: PLC0415  an extra, and 100 MB

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = _CONTEXT
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.verbosity = _QUIET
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1
        threads.poll = 0
    # It listens on a port nobody needs; let nobody in.
    params.api_keys = [secrets.token_hex()]
    return xllamacpp.Server(params)


def _release(copies: list[Any]) -> None:
    copies.clear()


def _prompt(request: Request) -> str:
    return "".join(message.content for message in request.messages)


def _payload(request: Request) -> dict[str, Any]:
    params: dict[str, Any] = request.flat_params
    stop, seed = params.get("stop", []), params.get("seed", 0)
    # Asking costs 7 % of the speed.
    logprobs = {"n_probs": params.pop("top_logprobs")} if "top_logprobs" in params else {}
    return {
        "temperature": 0.0,
        "max_tokens": _MAX_TOKENS,
        **params,
        **logprobs,
        "stop": [stop] if isinstance(stop, str) else list(stop),
        "seed": int(seed) % _SEEDS,
        "prompt": _prompt(request),
        "stream": True,
        "cache_prompt": False,
    }
