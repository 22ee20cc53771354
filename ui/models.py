"""The models a page can inspect, loaded once per server and never modified, and their traces.

torch takes seconds to import, so nothing here imports it before a model is needed; `warm_up` does it in the background.
"""

import gc
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from minibert.folders import CHECKPOINTS, LESSONS
from minibert.text.json_values import json_object
from ui.inputs import distinct, typed
from ui.languages import language_of
from ui.runs import complete, own_models, run_title
from ui.state import follow_link, say_choice, url_choice, usual_in_link
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    import numpy as np

    from minibert.config import BertConfig
    from minibert.tokenizer import Encoding, Tokenizer

UNTRAINED = "untrained"
WELL_READ = "minilm-en"  # default on pages about knowledge; elsewhere the first model listed, small and fast
OBJECTIVE = "minibert_objective"  # same as minibert.checkpoint.OBJECTIVE, without importing torch
TRACE_TOKENS = 128  # enough to look at; a trace of 512 tokens takes 60 MB for a small model
FRONT_PAGE = (UNTRAINED, "mini-en", "minilm-en")  # its models, from untrained to most training data
_building = threading.Lock()  # building uses torch's global generator: in parallel it is not reproducible
_in_memory: set[tuple[str, int]] = set()  # (name, version) of the models loaded on this server
_PAINT = 3.0  # seconds for a browser to fetch and draw the first page before importing torch takes a core


@dataclass(frozen=True)
class ModelInfo:
    """A selectable model. `name` is used in links; `directory` is None for the untrained one."""

    name: str
    title: str
    directory: Path | None = None

    @property
    def version(self) -> int:
        """Changes with the weights on disk, so that a replaced checkpoint is reloaded."""
        return 0 if self.directory is None else (self.directory / "model.safetensors").stat().st_mtime_ns

    @property
    def can_fill(self) -> bool:
        """Whether it was trained with masked LM (bidirectional)."""
        return (self.objective or "").startswith("mlm")

    @property
    def can_judge(self) -> bool:
        """Whether it was trained with next sentence prediction; sentence order prediction does not count."""
        return self.objective == "mlm+nsp"

    @property
    def pretrained(self) -> bool:
        """Whether it has pre-training heads."""
        return self.objective is not None

    @property
    def objective(self) -> str | None:
        """Objective of its pre-training heads; None without such heads. If config.json does not record it (checkpoints
        made elsewhere), it follows from the class; NSP is assumed for BertForPreTraining only, else masked LM."""
        if self.directory is None:
            return "mlm+nsp"
        values = config_values(self.directory)
        kind = (values.get("architectures") or [""])[0]
        known = {"BertForPreTraining": "mlm+nsp", "ElectraForPreTraining": "rtd", "XLNetLMHeadModel": "plm"}
        with_heads = kind in known or kind.endswith(("ForPreTraining", "ForMaskedLM"))
        return values.get(OBJECTIVE, known.get(kind, "mlm")) if with_heads else None


def config_values(directory: Path) -> dict:
    """A model's config.json, cached, as every run of every page needs it. Shared: do not modify."""
    return _config_values(directory, (directory / "config.json").stat().st_mtime_ns)


@lru_cache(maxsize=512)
def _config_values(directory: Path, changed: int) -> dict:
    return json_object(directory / "config.json")


def about(directory: Path) -> str:
    """A line of Markdown about the model in a directory if it is a relative of BERT; "" for BERT itself."""
    values = config_values(directory)
    if values.get("model_type", "bert") == "bert":
        return ""  # before importing torch
    from minibert.relatives import config_from, relative_of

    try:
        config = config_from(values)
    except (ValueError, TypeError):
        return ""  # `load` reports the error
    relative = relative_of(config)
    return f"**{literal(relative.title)}**: {_(relative.about).format(**config.as_dict())}."


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


def available_models(*, fill: bool = False, judge: bool = False, trained: bool = False) -> list[ModelInfo]:
    """The shipped checkpoints, this browser's own runs, finished or stopped, and an untrained model, in this order.

    fill: only models that can fill a [MASK] · judge: only models with an NSP head ·
    trained: without the untrained one.
    """
    shipped = [ModelInfo(path.name, path.name, path) for path in sorted(CHECKPOINTS.glob("*")) if complete(path)]
    everything = [*shipped, *_own_runs()]
    if not trained:
        everything.append(ModelInfo(UNTRAINED, _("untrained (random weights)")))
    return [info for info in everything if (info.can_fill or not fill) and (info.can_judge or not judge)]


def peers() -> list[ModelInfo]:
    """Installed third-party models, for comparison on some pages; not part of `available_models`. Models whose package
    is missing or invalid are left out (`minibert.packaged` raises PackageError with the reason)."""
    from minibert.packaged import PACKAGED, PackageError

    found = []
    for model in PACKAGED.values():
        with suppress(PackageError):
            found.append(ModelInfo(model.name, model.name, model.directory()))
    return found


def info_of(run) -> ModelInfo:
    """The trained model of a run."""
    return ModelInfo(run.id, run_title(run), run.result)


def _own_runs() -> list[ModelInfo]:
    return [info_of(run) for run in own_models()]


def model_choice(key: str = "model", *, label: str | None = None, usual: str | None = None, **kinds: bool) -> str:
    """A select box over `available_models(**kinds)`, stored in the link as `key`; returns the name of the chosen one.

    usual: initial model, if available; by default the first."""
    models = available_models(**kinds)
    directories = {info.name: info.directory for info in models if info.directory}
    return choose_model(key, label or _("Model"), {info.name: info.title for info in models}, directories, usual)


def choose_model(
    key: str, label: str, titles: Mapping[str, str], directories: Mapping[str, Path], usual: str | None = None
) -> str:
    """A select box over models, stored in the link as `key`, with a caption if the model is a relative of BERT → the
    name of the chosen one. titles: name → title, at least one · directories: name → folder · usual: initial model."""
    names = distinct(dict(titles))
    first = next(iter(names))
    usual = usual if usual in names else first
    if language_of(typed()) != "en":  # a sentence carried over from another page
        usual = next((name for name in directories if language_read(name) == language_of(typed())), usual)
    # Not bind="query-params": that would put the title into the link, and a title is translated.
    if follow_link(key) or st.session_state.get(key) not in names:
        st.session_state[key] = url_choice(key, list(names), usual_in_link(first, usual))
    directory = directories.get(st.session_state[key])
    words = about(directory) if directory else ""
    with st.container(gap="xxsmall") if words else nullcontext():
        chosen = st.selectbox(label, list(names), format_func=names.get, key=key)
        if words:
            st.caption(words)
    say_choice(key, chosen, first, usual)
    return chosen


def can_fill(name: str) -> bool:
    """Whether the model `name` can fill a [MASK]."""
    return _info(name).can_fill


def title_of(name: str) -> str:
    """The title of the model `name` on pages."""
    return _info(name).title


def language_read(name: str) -> str:
    """Language of the vocabulary of the model `name`, judged by its single-character tokens: "en" or "zh"."""
    return _language_of_vocabulary(name, version_of(name))


@st.cache_data(show_spinner=False, max_entries=64)
def _language_of_vocabulary(name: str, version: int) -> str:
    return language_of("".join(token for token in outline_of(name).tokenizer.vocab if len(token) == 1))


def version_of(name: str) -> int:
    """Changes with the weights of the model `name`; part of the cache key of everything computed from them."""
    return _info(name).version


def warn_untrained(name: str) -> None:
    if name == UNTRAINED:
        st.warning(
            _("This model has random weights: what it says is noise. Choose a trained one."), icon=":material/casino:"
        )


def loaded(names: Iterable[str]) -> bool:
    """Whether all these models are in memory, i.e. `load` returns at once. Loads nothing."""
    return all((name, version_of(name)) in _in_memory for name in names)


def load(name: str) -> Loaded:
    """The model `name` of `available_models` and its tokenizer, loaded once per server.

    If the checkpoint cannot be read, shows the reason and stops the page.
    """
    info = _info(name)
    try:
        with st.spinner(_("Loading the model …")):
            return _load(info.name, info.directory, info.version)
    except (ValueError, OSError) as error:
        words = _("The model {name} cannot be loaded. {reason}")
        st.error(words.format(name=literal(info.title), reason=literal(error)))
        st.stop()


def outline_of(name: str) -> Outline | Loaded:
    """Config and tokenizer of the model `name`: like `load`, but without importing torch."""
    info = _info(name)
    directory = info.directory or _first_shipped()
    try:
        return _outline(directory, info.version) if directory else load(name)
    except (ValueError, OSError):
        return load(name)  # which reports the error


def trace_of(name: str, text: str, pair: str | None = None) -> Trace:
    """Trace of the model `name` for a text or a pair, truncated to TRACE_TOKENS tokens; cached for all sessions."""
    load(name)
    info = _info(name)
    return _trace(info.name, info.directory, info.version, text, pair)


def _info(name: str) -> ModelInfo:
    """The model `name`; the last of `available_models` if unknown. Shipped models are found without listing the others:
    one run of Home calls this thirty times."""
    if name == Path(name).name and complete(CHECKPOINTS / name):
        return ModelInfo(name, name, CHECKPOINTS / name)
    models = available_models()
    if all(info.name != name for info in models):
        models = [*peers(), *models]
    return next((info for info in models if info.name == name), models[-1])


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
    from minibert.relatives import config_from_file
    from minibert.tokenizer import Tokenizer

    return Outline(config_from_file(directory / "config.json"), Tokenizer.from_directory(directory))


def _first_shipped() -> Path | None:
    return next((path for path in sorted(CHECKPOINTS.glob("*")) if complete(path)), None)


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

    from minibert.inside.vectors import encoder_of
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


@st.cache_resource(show_spinner=False)
def _warm_up_once(pause: float) -> threading.Thread:
    thread = threading.Thread(target=_warm, args=(pause,), name="warm-up", daemon=True)
    thread.start()
    return thread


def warm_up(page: str) -> None:
    """Once per server, in the background: start the cluster for training runs, import torch and load the front page's
    models, so that no student waits for them. page: address of the first page opened; for the front page ("") wait
    _PAINT seconds first, so that it is drawn quickly."""
    _warm_up_once(0.0 if page else _PAINT)


def _warm(pause: float) -> None:
    time.sleep(pause)
    from ui.runs import manager

    manager().warm_up()  # its worker processes import torch at the same time as this one
    from minibert.model import Batch  # noqa: F401  (imports torch)

    for name in (*FRONT_PAGE[1:], UNTRAINED):  # shipped ones first: most lessons start with them
        directory = None if name == UNTRAINED else CHECKPOINTS / name
        if directory is None or complete(directory):
            info = ModelInfo(name, name, directory)
            with suppress(ValueError, OSError):  # reported by the page that needs it
                _load(info.name, info.directory, info.version)
    gc.collect()
    gc.freeze()  # imported modules stay alive: exclude them from garbage collection
