"""The vocabularies to choose from: of the models, of this lesson, of a folder, and of this session."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS, USER_DATA
from minibert.text.vocab import check_vocab, looks_uncased, read_vocab
from minibert.tokenizer import Explanation, Tokenizer
from sections.tokenization.corpus import PARTS, bundled, learning
from ui.lesson import LESSONS
from ui.state import follow_link, hold, set_url, url_choice
from ui.text import literal
from ui.translations import _

LEARNED, UPLOADED = "learned", "uploaded"


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary to choose. name: used in links · path: a vocab.txt or a folder with one, None if in memory."""

    name: str
    title: str
    path: Path | None
    pieces: tuple[str, ...] = ()
    uncased: bool | None = None  # if in memory; None: infer it from the pieces


def vocabularies() -> dict[str, Vocabulary]:
    """Name → vocabulary: of the models, of this lesson, of a folder, and of this session."""
    own = LESSONS / "tokenization" / "vocabularies"
    models = [Vocabulary(path.name, path.name, path) for path in sorted(CHECKPOINTS.glob("*")) if path.is_dir()]
    lessons = [
        Vocabulary("en-cased", _("English, cased"), own / "en-cased"),
        Vocabulary("zh", _("Chinese"), own / "zh"),
    ]
    folder = Path(os.environ.get("MINIBERT_VOCABS") or USER_DATA / "vocabularies")
    results = [
        Vocabulary(path.stem, path.stem, path)
        for path in (sorted(folder.iterdir()) if folder.is_dir() else [])
        if path.suffix == ".txt" or path.is_dir()
    ]
    on_disk = [vocabulary for vocabulary in (*models, *lessons, *results) if file_of(vocabulary.path).is_file()]
    in_memory = [learned_vocabulary(), st.session_state.get("_uploaded-vocabulary")]
    known: dict[str, Vocabulary] = {}
    for vocabulary in filter(None, (*on_disk, *in_memory)):
        known.setdefault(vocabulary.name, vocabulary)
    return known


def learned_vocabulary() -> Vocabulary:
    """The vocabulary taken from *Learn a vocabulary*; by default the one of its first corpus."""
    if "_learned-vocabulary" not in st.session_state:
        learned = learning(bundled(PARTS), True, "frequency")
        keep_learned(tuple(learned.pieces(len(learned.merges))), True)
    return st.session_state["_learned-vocabulary"]


def keep_learned(pieces: tuple[str, ...], lowercase: bool) -> None:
    st.session_state["_learned-vocabulary"] = Vocabulary(LEARNED, _("learned just now"), None, pieces, lowercase)


def file_of(path: Path) -> Path:
    return path / "vocab.txt" if path.is_dir() else path


@st.cache_resource(show_spinner=False, max_entries=24)
def _read(path: Path, version: int) -> tuple[tuple[str, ...], bool]:
    """The pieces, and whether the vocabulary is uncased. version: cache key, changes with the file."""
    if path.is_dir():
        tokenizer = Tokenizer.from_directory(path)
        return tuple(tokenizer.pieces), tokenizer.lowercase
    pieces = tuple(read_vocab(path))
    check_vocab(pieces)
    return pieces, looks_uncased(pieces)


def read(vocabulary: Vocabulary) -> tuple[tuple[str, ...], bool]:
    """The pieces, and whether the vocabulary is uncased. Raises ValueError with a message for the user."""
    if vocabulary.path is None:
        uncased = looks_uncased(vocabulary.pieces) if vocabulary.uncased is None else vocabulary.uncased
        return vocabulary.pieces, uncased
    return _read(vocabulary.path, file_of(vocabulary.path).stat().st_mtime_ns)


def read_bytes(data: bytes, name: str) -> tuple[str, ...]:
    """The pieces in an uploaded file. Raises ValueError that names the file and the faulty line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.txt"
        path.write_bytes(data)
        try:
            pieces = tuple(read_vocab(path))
            check_vocab(pieces)
        except ValueError as error:
            message = str(error).replace(str(path), name)
            raise ValueError(message if name in message else f"{name}: {message}") from None
    return pieces


def tokenizer_of(pieces: tuple[str, ...], lowercase: bool) -> tuple[str, Tokenizer]:
    """(cache key, tokenizer); the tokenizer is built once for all sessions."""
    digest = hashlib.sha256("\n".join(pieces).encode("utf-8", "surrogatepass")).hexdigest() + str(lowercase)
    return digest, _tokenizer(digest, lowercase, pieces)


@st.cache_resource(show_spinner=False, max_entries=24)
def _tokenizer(digest: str, lowercase: bool, _pieces: tuple[str, ...]) -> Tokenizer:
    return Tokenizer(_pieces, lowercase=lowercase)


@st.cache_resource(show_spinner=False, max_entries=128)
def explained(digest: str, text: str, _tokenizer: Tokenizer) -> Explanation:
    """All steps of a text; shared by all sessions, never changed."""
    return _tokenizer.explain(text)


def choose_case(name: str, uncased: bool) -> bool:
    """Whether to lowercase and drop accents; by default as the vocabulary was learned."""
    cases = {True: "uncased", False: "cased"}
    key = f"uncased-{name}-{uncased}"
    if follow_link("case") or key not in st.session_state:
        st.session_state[key] = url_choice("case", list(cases.values()), cases[uncased]) == "uncased"
    hold(key)
    lowercase = st.toggle(
        _("uncased"),
        key=key,
        help=_("Small letters, no accents. Set as the vocabulary was learned; switch it, and see what no longer fits."),
    )
    set_url("case", cases[lowercase], default=cases[uncased])
    return lowercase


def vocabulary_label(vocabulary: Vocabulary) -> str:
    """The vocabulary's title and its number of entries."""
    try:
        return f"{literal(vocabulary.title)} · {len(read(vocabulary)[0]):,}"
    except (ValueError, OSError):
        return literal(vocabulary.title)  # its error appears once it is chosen
