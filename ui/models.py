"""The models a page can look into, loaded once per server and never changed, and their traces.

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

from minibert.text.json_values import json_object
from ui.folders import CHECKPOINTS, ROOT
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
WELL_READ = "minilm-en"  # where a page is about what a model knows; elsewhere the first of the list, quick and small
OBJECTIVE = "minibert_objective"  # minibert.checkpoint.OBJECTIVE, which is not imported for it
TRACE_TOKENS = 128  # more than anyone looks at; a trace of 512 tokens is 60 MB for a small model
FRONT_PAGE = (UNTRAINED, "mini-en", "minilm-en")  # the models that it shows, from nothing read to much
_building = threading.Lock()  # a model that is built draws from torch's one generator: two at once are never the same
_in_memory: set[tuple[str, int]] = set()  # (name, version) of what was loaded on this server
_PAINT = 3.0  # seconds: what a browser needs to fetch and draw the first page before torch takes a core


@dataclass(frozen=True)
class ModelInfo:
    """A model to choose. `name` stands in links; `directory` is None for the untrained one."""

    name: str
    title: str
    directory: Path | None = None

    @property
    def version(self) -> int:
        """Changes when the weights on disk do, so that a replaced checkpoint is loaded anew."""
        return 0 if self.directory is None else (self.directory / "model.safetensors").stat().st_mtime_ns

    @property
    def can_fill(self) -> bool:
        """Whether it was trained to fill blanks, from both sides."""
        return (self.objective or "").startswith("mlm")

    @property
    def can_judge(self) -> bool:
        """Whether it was trained to say if one segment follows another: not that of a model asked for their order."""
        return self.objective == "mlm+nsp"

    @property
    def pretrained(self) -> bool:
        """Whether it has the heads of pre-training."""
        return self.objective is not None

    @property
    def objective(self) -> str | None:
        """What its pre-training heads are for; None without such heads. Files of others have no note of it: the class
        tells, and of those that judge pairs it tells only of BERT's that they judge what follows."""
        if self.directory is None:
            return "mlm+nsp"
        values = config_values(self.directory)
        kind = (values.get("architectures") or [""])[0]
        known = {"BertForPreTraining": "mlm+nsp", "ElectraForPreTraining": "rtd", "XLNetLMHeadModel": "plm"}
        with_heads = kind in known or kind.endswith(("ForPreTraining", "ForMaskedLM"))
        return values.get(OBJECTIVE, known.get(kind, "mlm")) if with_heads else None


def config_values(directory: Path) -> dict:
    """What stands in a model's config.json, read once for everyone: every run of every page asks for it. Look only."""
    return _config_values(directory, (directory / "config.json").stat().st_mtime_ns)


@lru_cache(maxsize=512)
def _config_values(directory: Path, changed: int) -> dict:
    return json_object(directory / "config.json")


def about(directory: Path) -> str:
    """What the model in a directory is, if it is a relative of BERT, in a line of Markdown; else ""."""
    values = config_values(directory)
    if values.get("model_type", "bert") == "bert":
        return ""  # nothing is imported for it
    from minibert.relatives.registry import config_from, relative_of

    try:
        config = config_from(values)
    except (ValueError, TypeError):
        return ""  # loading it says what is wrong
    relative = relative_of(config)
    return f"**{literal(relative.title)}**: {_(relative.about).format(**config.as_dict())}."


@dataclass(frozen=True)
class Loaded:
    """A model in eval mode and its tokenizer. Shared by everyone on the server: look (`tap`), never change it."""

    model: Any
    tokenizer: "Tokenizer"

    @property
    def config(self):
        return self.model.config


@dataclass(frozen=True)
class Outline:
    """What a model is, without its weights."""

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
    """The checkpoints that ship, this session's own runs, finished or stopped, and – always – an untrained model, in
    that order.

    fill: only models that can fill a [MASK] · judge: only models that can say whether a segment follows another ·
    trained: without the untrained one.
    """
    shipped = [ModelInfo(path.name, path.name, path) for path in sorted(CHECKPOINTS.glob("*")) if complete(path)]
    everything = [*shipped, *_own_runs()]
    if not trained:
        everything.append(ModelInfo(UNTRAINED, _("untrained (random weights)")))
    return [info for info in everything if (info.can_fill or not fill) and (info.can_judge or not judge)]


def peers() -> list[ModelInfo]:
    """Models of others that are installed, to hold ours against where a page says so; `available_models` has none of
    them. One whose package is missing or wrong is left out: `minibert.packaged` says why."""
    from minibert.packaged import PACKAGED, PackageError

    found = []
    for model in PACKAGED.values():
        with suppress(PackageError):
            found.append(ModelInfo(model.name, model.name, model.directory()))
    return found


def info_of(run) -> ModelInfo:
    """The model that a run has left."""
    return ModelInfo(run.id, run_title(run), run.result)


def _own_runs() -> list[ModelInfo]:
    return [info_of(run) for run in own_models()]


def model_choice(key: str = "model", *, label: str | None = None, usual: str | None = None, **kinds: bool) -> str:
    """A select box over `available_models(**kinds)`, in the link under `key`; returns the name of the chosen one.

    usual: the model a page begins with, if it is there; by default the first."""
    models = available_models(**kinds)
    directories = {info.name: info.directory for info in models if info.directory}
    return choose_model(key, label or _("Model"), {info.name: info.title for info in models}, directories, usual)


def choose_model(
    key: str, label: str, titles: Mapping[str, str], directories: Mapping[str, Path], usual: str | None = None
) -> str:
    """A select box over models, in the link under `key`, and below it what a relative of BERT is → the name of the
    chosen one. titles: by name, at least one; directories: of those that have one; usual: as of `model_choice`."""
    names = distinct(dict(titles))
    first = next(iter(names))
    usual = usual if usual in names else first
    if language_of(typed()) != "en":  # the sentence that came along
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
    """Whether the model `name` fills blanks."""
    return _info(name).can_fill


def title_of(name: str) -> str:
    """What the model `name` is called on a page."""
    return _info(name).title


def language_read(name: str) -> str:
    """The language that most of the vocabulary of the model `name` is in: "en" or "zh"."""
    return _language_of_vocabulary(name, version_of(name))


@st.cache_data(show_spinner=False, max_entries=64)
def _language_of_vocabulary(name: str, version: int) -> str:
    return language_of("".join(token for token in outline_of(name).tokenizer.vocab if len(token) == 1))


def version_of(name: str) -> int:
    """Changes with the weights of the model `name`: what is computed from them is cached under both."""
    return _info(name).version


def warn_untrained(name: str) -> None:
    if name == UNTRAINED:
        st.warning(
            _("This model has random weights: what it says is noise. Choose a trained one."), icon=":material/casino:"
        )


def loaded(names: Iterable[str]) -> bool:
    """Whether these models are in memory, so that nobody waits for torch or for a file. Loads nothing."""
    return all((name, version_of(name)) in _in_memory for name in names)


def load(name: str) -> Loaded:
    """The model `name` of `available_models` and its tokenizer, loaded once per server.

    On a page, a checkpoint that cannot be read stops the page with a sentence that says why.
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
    """Config and tokenizer of the model `name`: like `load`, but nothing waits for torch."""
    info = _info(name)
    directory = info.directory or _first_shipped()
    try:
        return _outline(directory, info.version) if directory else load(name)
    except (ValueError, OSError):
        return load(name)  # which says what is wrong with it


def trace_of(name: str, text: str, pair: str | None = None) -> Trace:
    """What the model `name` computes for a text or a pair, cut to TRACE_TOKENS tokens; computed once for everyone."""
    load(name)
    info = _info(name)
    return _trace(info.name, info.directory, info.version, text, pair)


def _info(name: str) -> ModelInfo:
    """Of what ships, nothing else is listed: a run of Home asks for three models thirty times."""
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
    from minibert.relatives.registry import config_from_file
    from minibert.tokenizer import Tokenizer

    return Outline(config_from_file(directory / "config.json"), Tokenizer.from_directory(directory))


def _first_shipped() -> Path | None:
    return next((path for path in sorted(CHECKPOINTS.glob("*")) if complete(path)), None)


def _untrained() -> Loaded:
    """Random weights, always the same, with the shape and vocabulary of the first checkpoint if there is one."""
    import torch

    from minibert.config import BertConfig
    from minibert.model import BertForPreTraining
    from minibert.text.vocab import learn_fast
    from minibert.tokenizer import Tokenizer

    shipped = _first_shipped()
    if shipped is not None:
        outline = _outline(shipped, 0)
        config, tokenizer = outline.config, outline.tokenizer
    else:
        prose = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "lessons").glob("*/en.md"))]
        tokenizer = Tokenizer(learn_fast(prose, 2_000, min_frequency=1))
        config = BertConfig.preset("mini", vocab_size=tokenizer.vocab_size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Loaded(BertForPreTraining(config).eval(), tokenizer)


@st.cache_resource(show_spinner=False, max_entries=16)  # two megabytes each and more
def _trace(name: str, directory: Path | None, version: int, text: str, pair: str | None) -> Trace:
    import torch

    from minibert.inside.vectors import encoder_of
    from minibert.model import Batch, BertForPreTraining

    loaded = _load(name, directory, version)
    model = loaded.model if isinstance(loaded.model, BertForPreTraining) else encoder_of(loaded.model)
    encoding = loaded.tokenizer.encode(text, pair, max_length=min(TRACE_TOKENS, loaded.config.longest))
    values = {}

    def keep(tap, tensor):
        array = tensor.squeeze(0).detach().float().numpy().copy()  # what is the same for every row has no batch axis
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
    """Once per server, in the background: start the cluster of the training runs, import torch and load the front
    page's models, so that no student waits for them. On the front page it is painted first; whoever comes to a lesson
    directly (`page` is its address) needs them now."""
    _warm_up_once(0.0 if page else _PAINT)


def _warm(pause: float) -> None:
    time.sleep(pause)
    from ui.runs import manager

    manager().warm_up()  # in processes of its own, which import torch while this one does
    from minibert.model import Batch  # noqa: F401  (imports torch)

    for name in (*FRONT_PAGE[1:], UNTRAINED):  # most lessons begin with one that ships
        directory = None if name == UNTRAINED else CHECKPOINTS / name
        if directory is None or complete(directory):
            info = ModelInfo(name, name, directory)
            with suppress(ValueError, OSError):  # the page that needs it says what is wrong with it
                _load(info.name, info.directory, info.version)
    gc.collect()
    gc.freeze()  # what is imported by now stays for good: no collection need look through it again
