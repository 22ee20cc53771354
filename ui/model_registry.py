"""The models a page can inspect: the shipped checkpoints, this browser's runs, and an untrained one.

Nothing here imports torch, which takes seconds, except for a relative of BERT in `about`.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.runs import EVERYONE, complete, own_models, run_title
from ui.text import literal
from ui.translations import _

UNTRAINED = "untrained"
OBJECTIVE = "minibert_objective"  # same as minibert.checkpoint.OBJECTIVE, without importing torch
FRONT_PAGE = (UNTRAINED, "mini-en", "minilm-en")  # its models, from untrained to most training data


@dataclass(frozen=True)
class ModelInfo:
    """A selectable model. `name` is used in links; `directory` is None for the untrained one."""

    name: str
    title: str
    directory: Path | None = None

    @property
    def version(self) -> int:
        """Changes with the weights on disk, so that a replaced checkpoint is reloaded."""
        weights = None if self.directory is None else self.directory / "model.safetensors"
        return weights.stat().st_mtime_ns if weights is not None and weights.is_file() else 0

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
        made elsewhere), it follows from the class, and for BERT itself from the heads that the file holds."""
        if self.directory is None:
            return "mlm+nsp"
        values = config_values(self.directory)
        kind = (values.get("architectures") or [""])[0]
        known = {"BertForPreTraining": "mlm+nsp", "ElectraForPreTraining": "rtd", "XLNetLMHeadModel": "plm"}
        with_heads = kind in known or kind.endswith(("ForPreTraining", "ForMaskedLM"))
        if kind in ("BertForPreTraining", "BertForMaskedLM") and OBJECTIVE not in values:
            pairs = has_pair_head(self.directory, self.version)
            return "mlm+nsp" if pairs or (pairs is None and kind in known) else "mlm"
        return values.get(OBJECTIVE, known.get(kind, "mlm")) if with_heads else None


@lru_cache(maxsize=512)
def has_pair_head(directory: Path, changed: int) -> bool | None:
    """Whether the weights hold a next-sentence head, by their names alone; None if they cannot be read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(directory / "model.safetensors", "numpy") as file:
            return "cls.seq_relationship.weight" in file.keys()  # noqa: SIM118, no mapping
    except (OSError, SafetensorError):
        return None  # `load` reports the error


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


def available_models(*, fill: bool = False, judge: bool = False, trained: bool = False) -> list[ModelInfo]:
    """The shipped checkpoints, this browser's own runs, finished or stopped, and an untrained model, in this order.

    fill: only models that can fill a [MASK] · judge: only models with an NSP head ·
    trained: without the untrained one.
    """
    everything = [*shipped_models(), *map(info_of, own_models())]
    if not trained:
        everything.append(ModelInfo(UNTRAINED, _("untrained (random weights)")))
    return [info for info in everything if (info.can_fill or not fill) and (info.can_judge or not judge)]


def shipped_models() -> list[ModelInfo]:
    """The checkpoints that come with the project, by name."""
    return [ModelInfo(path.name, path.name, path) for path in sorted(CHECKPOINTS.glob("*")) if complete(path)]


def peers() -> list[ModelInfo]:
    """Installed third-party models, for comparison on some pages; not part of `available_models`. Models whose package
    is missing or invalid are left out (`minibert.sentence_vectors.packaged` raises PackageError with the reason)."""
    from minibert.sentence_vectors.packaged import PACKAGED, PackageError

    found = []
    for model in PACKAGED.values():
        with suppress(PackageError):
            found.append(ModelInfo(model.name, model.name, model.directory()))
    return found


def info_of(run) -> ModelInfo:
    """The trained model of a run."""
    return ModelInfo(run.id, run_title(run), run.result)


def model_named(name: str) -> ModelInfo:
    """The model `name`; the last of `available_models` if unknown. Shipped models are found without listing the others:
    one run of Home calls this thirty times."""
    if name == Path(name).name and complete(CHECKPOINTS / name):
        return ModelInfo(name, name, CHECKPOINTS / name)
    models = available_models()
    if all(info.name != name for info in models):
        models = [*peers(), *map(info_of, own_models(EVERYONE)), *models]
    return next((info for info in models if info.name == name), models[-1])


def can_fill(name: str) -> bool:
    """Whether the model `name` can fill a [MASK]."""
    return model_named(name).can_fill


def title_of(name: str) -> str:
    """The title of the model `name` on pages."""
    return model_named(name).title
