"""The models a page can inspect: the shipped checkpoints, the room's own (MINIBERT_MODELS), this browser's runs, and an
untrained one.

Nothing here imports torch, which takes seconds, except for a relative of BERT in `about`.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from minibert.checkpoint_files import CONFIG, changed, refusal, weight_files
from minibert.folders import CHECKPOINTS, models_folder
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
        return 0 if self.directory is None else changed(self.directory)

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
    def can_begin(self) -> bool:
        """Whether a task can be learned from it: it is an encoder, with pre-training heads or none."""
        if self.pretrained or self.directory is None:
            return True
        return (config_values(self.directory).get("architectures") or ["Model"])[0].endswith("Model")

    @property
    def objective(self) -> str | None:
        """Objective of its pre-training heads; None without such heads. If config.json does not record it (checkpoints
        made elsewhere), it follows from the class, and for BERT itself from the heads that the file holds."""
        if self.directory is None:
            return "mlm+nsp"
        values = config_values(self.directory)
        kind = (values.get("architectures") or [""])[0]
        known = {
            "BertForPreTraining": "mlm+nsp",
            "AlbertForPreTraining": "mlm+sop",
            "ElectraForPreTraining": "rtd",
            "XLNetLMHeadModel": "plm",
        }
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
        for part in weight_files(directory):
            with safe_open(part, "numpy") as file:
                if "cls.seq_relationship.weight" in file.keys():  # noqa: SIM118, no mapping
                    return True
        return False
    except (OSError, ValueError, SafetensorError):
        return None  # `load` reports the error


def config_values(directory: Path) -> dict:
    """A model's config.json, cached, as every run of every page needs it. Shared: do not modify."""
    return _config_values(directory, (directory / CONFIG).stat().st_mtime_ns)


@lru_cache(maxsize=512)
def _config_values(directory: Path, changed: int) -> dict:
    return json_object(directory / CONFIG)


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
    return f"**{literal(relative.title)}**{_(': ')}{_(relative.about).format(**config.as_dict())}{_('.')}"


def available_models(
    *, fill: bool = False, judge: bool = False, begin: bool = False, trained: bool = False
) -> list[ModelInfo]:
    """The shipped checkpoints, those in MINIBERT_MODELS, this browser's own runs, finished or stopped, and an untrained
    model, in this order.

    fill: only models that can fill a [MASK] · judge: only models with an NSP head · begin: only models that a task can
    be learned from · trained: without the untrained one.
    """
    everything = [*shipped_models(), *further_models(), *map(info_of, own_models())]
    if not trained:
        everything.append(ModelInfo(UNTRAINED, _("untrained (random weights)")))
    return [
        info
        for info in everything
        if (info.can_fill or not fill) and (info.can_judge or not judge) and (info.can_begin or not begin)
    ]


def shipped_models() -> list[ModelInfo]:
    """The checkpoints that come with the project, by name."""
    folders = [CHECKPOINTS / name for name in (sorted(os.listdir(CHECKPOINTS)) if CHECKPOINTS.is_dir() else ())]
    return [ModelInfo(path.name, path.name, path) for path in folders if complete(path)]


def further_models() -> list[ModelInfo]:
    """The checkpoints in the folder that MINIBERT_MODELS names, by name."""
    return [ModelInfo(path.name, path.name, path) for path in _further_folders() if not _refusal_of(path)]


def refused_models() -> dict[str, str]:
    """Name of each folder in MINIBERT_MODELS that holds no model we can open → why."""
    if (folder := models_folder()) and not folder.is_dir():
        return {"MINIBERT_MODELS": _("There is no such folder.")}
    return {path.name: why for path in _further_folders() if (why := _refusal_of(path))}


def _further_folders() -> list[Path]:
    folder = models_folder()
    found = folder.iterdir() if folder and folder.is_dir() else ()
    return sorted(path for path in found if path.is_dir() and not path.name.startswith("."))


def _refusal_of(directory: Path) -> str | None:
    if directory.name == UNTRAINED or complete(CHECKPOINTS / directory.name):
        return _("A model of the course has this name: give the folder another one.")
    files = [path.stat() for path in directory.iterdir() if path.is_file()]
    return _refusal(directory, max((file.st_mtime_ns for file in files), default=0), len(files))


@lru_cache(maxsize=512)
def _refusal(directory: Path, newest: int, files: int) -> str | None:
    """Cached, as a vocabulary is read for it."""
    why = refusal(directory)
    return why and why.replace(f"{directory}/", "").replace(str(directory), directory.name)


def peers(language: str) -> list[ModelInfo]:
    """Installed third-party models of a language, for comparison on some pages; not part of `available_models`."""
    from minibert.sentence_vectors.packaged import PACKAGED

    return [info for model in PACKAGED.values() if model.language == language and (info := peer_named(model.name))]


def peer_named(name: str) -> ModelInfo | None:
    """The third-party model `name`; None where its package is missing or invalid (`minibert.sentence_vectors.packaged`
    raises PackageError with the reason)."""
    from minibert.sentence_vectors.packaged import PACKAGED, PackageError

    with suppress(PackageError):
        if name in PACKAGED:
            return ModelInfo(name, name, PACKAGED[name].directory())
    return None


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
        if peer := peer_named(name):
            return peer
        models = [*map(info_of, own_models(EVERYONE)), *models]
    return next((info for info in models if info.name == name), models[-1])


def can_fill(name: str) -> bool:
    """Whether the model `name` can fill a [MASK]."""
    return model_named(name).can_fill


def title_of(name: str) -> str:
    """The title of the model `name` on pages."""
    return model_named(name).title
