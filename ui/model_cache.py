"""Models and their traces, loaded once per server, shared by all sessions and never modified.

torch takes seconds to import, so nothing here imports it before a model is needed; `warm_up` does it in the background.
"""

import gc
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from minibert.folders import LESSONS
from ui.errors import translated
from ui.languages import language_of
from ui.model_registry import FRONT_PAGE, UNTRAINED, ModelInfo, model_named, shipped_models
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

    from minibert.config import BertConfig
    from minibert.finetune.predictor import Predictor
    from minibert.tokenizer import Encoding, Tokenizer

MOST_PREDICTORS = 6  # fine-tuned models in memory, up to 90 MB each
TRACE_TOKENS = 128  # enough to look at; a trace of 512 tokens takes 60 MB for a small model
_building = threading.Lock()  # building uses torch's global generator: in parallel it is not reproducible
_in_memory: set[tuple[str, int]] = set()  # (name, version) of the models loaded on this server
_PAINT = 3.0  # seconds for a browser that waits for the server to draw its page before importing torch takes a core


@dataclass(frozen=True)
class Loaded:
    """A model in eval mode and its tokenizer. Shared by all sessions: read it (with `tap`), never modify it."""

    model: Any
    tokenizer: "Tokenizer"

    @property
    def config(self):
        return self.model.config


@dataclass(frozen=True)
class Outline:
    """Config and tokenizer of a model, without its weights."""

    config: "BertConfig"
    tokenizer: "Tokenizer"


@dataclass(frozen=True)
class Trace:
    """Everything a model computed for one input, read-only, without the batch axis.

    `trace["blocks.2.attn.probs"]` is (A, T, T) float32; `trace.names` lists the taps.
    """

    encoding: "Encoding"
    config: Any
    values: "Mapping[str, np.ndarray]"

    def __getitem__(self, name: str) -> "np.ndarray":
        return self.values[name]

    @property
    def names(self) -> list[str]:
        return list(self.values)

    @property
    def tokens(self) -> list[str]:
        return self.encoding.tokens

    @property
    def ids(self) -> list[int]:
        return self.encoding.ids


def version_of(name: str) -> int:
    """Changes with the weights of the model `name`; part of the cache key of everything computed from them."""
    return model_named(name).version


def loaded(names: Iterable[str]) -> bool:
    """Whether all these models are in memory, i.e. `load` returns at once. Loads nothing."""
    return all((name, version_of(name)) in _in_memory for name in names)


def load(name: str) -> Loaded:
    """The model `name` of `available_models` and its tokenizer, loaded once per server.

    If the checkpoint cannot be read, shows the reason and stops the page.
    """
    info = model_named(name)
    try:
        with st.spinner(_("Loading the model …")):
            return _load(info.name, info.directory, info.version)
    except (ValueError, OSError) as error:
        words = _("The model {name} cannot be loaded. {reason}")
        st.error(words.format(name=literal(info.title), reason=literal(translated(error))))
        st.stop()


def outline_of(name: str) -> Outline | Loaded:
    """Config and tokenizer of the model `name`: like `load`, but without importing torch."""
    info = model_named(name)
    directory = info.directory or _first_shipped()
    try:
        return _outline(directory, info.version) if directory else load(name)
    except (ValueError, OSError):
        return load(name)  # which reports the error


@st.cache_resource(show_spinner=False, max_entries=MOST_PREDICTORS)
def load_predictor(run_id: str, directory: str) -> "Predictor":
    """The model that a fine-tuning run has left. Shared by all sessions: never modify it."""
    from minibert.finetune.predictor import Predictor

    return Predictor.from_directory(directory)


def trace_of(name: str, text: str, pair: str | None = None) -> Trace:
    """Trace of the model `name` for a text or a pair, truncated to TRACE_TOKENS tokens; cached for all sessions."""
    load(name)
    info = model_named(name)
    return _trace(info.name, info.directory, info.version, text, pair)


def language_read(name: str) -> str:
    """Language of the vocabulary of the model `name`, judged by its single-character tokens: "en" or "zh"."""
    return _language_of_vocabulary(name, version_of(name))


@st.cache_data(show_spinner=False, max_entries=64)
def _language_of_vocabulary(name: str, version: int) -> str:
    return language_of("".join(token for token in outline_of(name).tokenizer.vocab if len(token) == 1))


@st.cache_resource(show_spinner=False, max_entries=8)
def _load(name: str, directory: Path | None, version: int) -> Loaded:
    from minibert import checkpoint

    with _building:
        if directory is None:
            model = _untrained()
        else:
            model = Loaded(checkpoint.load(directory), checkpoint.load_tokenizer(directory))
    _in_memory.add((name, version))
    return model


@st.cache_resource(show_spinner=False, max_entries=32)
def _outline(directory: Path, version: int) -> Outline:
    from minibert.checkpoint_files import CONFIG, load_tokenizer
    from minibert.relatives import config_from_file

    return Outline(config_from_file(directory / CONFIG), load_tokenizer(directory))


def _first_shipped() -> Path | None:
    return next((info.directory for info in shipped_models()), None)


def _untrained() -> Loaded:
    """Random weights from a fixed seed; config and vocabulary of the first shipped checkpoint if there is one."""
    import torch

    from minibert.config import BertConfig
    from minibert.model import BertForPreTraining
    from minibert.relatives import build
    from minibert.text.vocab import learn_fast
    from minibert.tokenizer import Tokenizer

    shipped = _first_shipped()
    if shipped is not None:
        outline = _outline(shipped, 0)
        config, tokenizer = outline.config, outline.tokenizer
    else:
        prose = [path.read_text(encoding="utf-8") for path in sorted(LESSONS.glob("*/en.md"))]
        tokenizer = Tokenizer(learn_fast(prose, 2_000, min_frequency=1))
        config = BertConfig.preset("mini", vocab_size=tokenizer.vocab_size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Loaded(build(config, BertForPreTraining).eval(), tokenizer)


@st.cache_resource(show_spinner=False, max_entries=16)  # at least 2 MB each
def _trace(name: str, directory: Path | None, version: int, text: str, pair: str | None) -> Trace:
    import torch

    from minibert.inside.geometry.vectors import encoder_of
    from minibert.model import Batch, BertForPreTraining

    loaded = _load(name, directory, version)
    model = loaded.model if isinstance(loaded.model, BertForPreTraining) else encoder_of(loaded.model)
    encoding = loaded.tokenizer.encode(text, pair, max_length=min(TRACE_TOKENS, loaded.config.longest))
    values = {}

    def keep(tap, tensor):
        array = tensor.squeeze(0).detach().float().numpy().copy()  # batch-independent taps have no batch axis
        array.flags.writeable = False  # shared by every session
        values[tap] = array
        return tensor

    with torch.inference_mode():
        batch = Batch(torch.tensor([encoding.ids]), torch.tensor([encoding.segments]))
        model(batch, tap=keep)
    return Trace(encoding, loaded.config, values)


def warm_up() -> None:
    """Once per server, in a thread of its own: import torch, load the front page's models and start the cluster for
    training runs, so that no student waits for them. The first page is drawn before."""
    time.sleep(_PAINT)
    from minibert.model import Batch  # noqa: F401  (imports torch)
    from ui.runs import manager

    known = {info.name: info for info in [*shipped_models(), ModelInfo(UNTRAINED, UNTRAINED)]}
    for name in (*FRONT_PAGE[1:], UNTRAINED):  # shipped ones first: most lessons start with them
        if info := known.get(name):
            with suppress(ValueError, OSError):  # reported by the page that needs it
                _load(info.name, info.directory, info.version)
    manager().warm_up()
    gc.collect()
    gc.freeze()  # imported modules stay alive: exclude them from garbage collection
