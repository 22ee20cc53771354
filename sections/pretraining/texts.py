"""The training text of a run: the toy world, the text of this course, or the user's own file."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ui.errors import translated
from ui.inputs import choice
from ui.lesson import TEXT_WIDTH, Lesson, course_prose, course_reviews
from ui.state import follow_link, set_url, url_int
from ui.text import literal, show_tokens, visible
from ui.translations import _, ngettext
from ui.uploads import uploader

LARGEST_TEXT = 5_000_000  # bytes; larger files need the command line
HELD_OUT = 10  # every tenth document is held out for evaluation


@dataclass(frozen=True)
class TrainingText:
    """A run's text: training and held-out documents; a toy `world` generates its own · about, first_lines: its
    description."""

    name: str
    train: list[list[str]] | None = None
    dev: list[list[str]] | None = None
    world: str | None = None
    about: str = ""
    first_lines: tuple[str, ...] = ()


def choose_data() -> str:
    """The kind of text, in the link as `data`."""
    names = {"toy": _("Toy world"), "course": _("This course"), "own": _("Your own file")}
    return choice("data", _("Text"), names)


def choose_world() -> None:
    """The set of scenes of the toy world, in the link as `world`."""
    choice("world", _("Scenes"), {"small": _("nine kinds of scenes"), "whole": _("all nineteen")})


def choose_text(lesson: Lesson, data: str, pairs: bool) -> TrainingText | None:
    """The text to train on, None while there is no usable one. pairs: whether NSP is trained too."""
    if data == "own":
        return own_text(pairs)
    if data == "course":
        return course_text(pairs)
    world = st.session_state.get("world", "small")
    return TrainingText(_("toy world") if world == "small" else _("whole toy world"), world=world)


def course_text(pairs: bool) -> TrainingText:
    from minibert.text.documents import held_apart

    prose, reviews = course_prose(), [[text] for text in course_reviews("train")]
    description = _("{sections} sections of the lessons, {words:,} words").format(
        sections=len(prose), words=sum(len(line.split()) for document in prose for line in document)
    )
    if pairs:
        description += _("; the reviews are left out, since a single sentence has no next one")
    else:
        description += _(" and {reviews} reviews, {words:,} words").format(
            reviews=len(reviews), words=sum(len(line.split()) for document in reviews for line in document)
        )
    return TrainingText(
        _("course text"), *held_apart(prose if pairs else prose + reviews, HELD_OUT), about=description + _(".")
    )


def own_text(pairs: bool) -> TrainingText | None:
    from minibert.text.documents import DataError, held_apart, read_documents

    st.markdown(
        _(
            "Plain text, UTF-8, with an empty line between documents (chapters, articles …). Every tenth document is "
            "kept apart to measure on. At most {most} MB; for more there is `python -m minibert pretrain`."
        ).format(most=LARGEST_TEXT // 1_000_000)
    )
    file = uploader(_("Your file"), ["txt"], "file")
    if file is None:
        return None
    if file.size > LARGEST_TEXT:
        refuse(
            _("{name} has {size:.1f} MB; this page takes {most} MB.").format(
                name=literal(file.name), size=file.size / 1e6, most=LARGEST_TEXT // 1_000_000
            )
        )
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_bytes(file.getvalue())
        try:
            documents = list(read_documents([path]))
        except DataError as error:
            refuse(literal(translated(str(error).replace(str(path), file.name))))
            return None
    words = sum(len(line.split()) for document in documents for line in document)
    train, dev = held_apart(documents, HELD_OUT)
    if pairs and len(train) < 2:
        refuse(
            _(
                "Next sentences need at least two documents: half of them are taken from another one. Put empty lines "
                "between documents, or switch next sentences off."
            )
        )
        return None
    if not dev:
        st.info(_("With fewer than {n} documents none is kept apart to measure on.").format(n=HELD_OUT))
    description = ngettext("{n:,} document, {words:,} words.", "{n:,} documents, {words:,} words.", len(documents))
    first = tuple(visible(document[0][:200], spaces=False) for document in documents[:5])
    return TrainingText(
        Path(file.name).stem[:40],
        train,
        dev,
        about=description.format(n=len(documents), words=words),
        first_lines=first,
    )


def refuse(reason: str) -> None:
    st.error(reason, icon=":material/error:")


def show(lesson: Lesson, text: TrainingText | None) -> None:
    if text is not None:
        _excerpt(lesson, text)
    lesson.show("What is predicted", title=False)


def _excerpt(lesson: Lesson, text: TrainingText) -> None:
    """A story of the toy world, or how much text there is and how its documents begin."""
    if text.world:
        toy_story(text.world)
        return
    st.markdown(f"{text.about} {lesson.section('What so little text can teach')[1]}", width=TEXT_WIDTH)
    if text.first_lines:
        st.dataframe([{_("first line of a document"): line} for line in text.first_lines], hide_index=True)


@st.fragment
def toy_story(world: str) -> None:
    """A story of the toy world, with the words that are determined by others."""
    from minibert.toy.world import KINDS, generate

    if follow_link("story") or "story" not in st.session_state:
        st.session_state["story"] = url_int("story", 3, 0, 999_999)
    number = st.session_state["story"]
    story = generate(number, world=world)
    words = story.words
    determined = [word for word in words if word.kind is not None]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(
            _("One of endlessly many stories. **{n} of its {total} words** follow from the others:").format(
                n=len(determined), total=len(words)
            ),
            width="content",
        )
        st.button(
            _("Another story"),
            key="another-story",
            icon=":material/casino:",
            on_click=lambda: st.session_state.update(story=(number + 1) % 1_000_000),
        )
    set_url("story", number, default=3)
    show_tokens(
        [word.text for word in words],
        kinds=["changed" if word.kind else "plain" for word in words],
        under=["← " + _(", ").join(words[i].text for i in word.determined_by) if word.kind else "" for word in words],
        titles=[toy_kinds().get(word.kind, "") for word in words],
        label=_("A story; under a determined word, what determines it"),
    )
    counts = {kind: sum(word.kind == kind for word in determined) for kind in KINDS}
    with st.expander(_("What determines a word"), icon=":material/help:"):
        st.table(
            [{_("kind"): kind, _("here"): counts[kind], _("because"): what} for kind, what in toy_kinds().items()],
            border="horizontal",
        )


def toy_kinds() -> dict[str, str]:
    from minibert.toy.world import KINDS

    return {kind: _(what) for kind, what in KINDS.items()}


@st.cache_data(show_spinner=False)
def toy_vocabulary() -> list[str]:
    from minibert.toy.world import vocabulary

    return vocabulary()


def unknown_words(text: str) -> list[str]:
    known = set(toy_vocabulary())
    return [word for word in re.findall(r"\w+|[^\w\s]", text.lower().replace("[mask]", " ")) if word not in known]


def examples(lesson: Lesson) -> tuple[list[str], list[str]]:
    """The lesson's sentences in the toy world's vocabulary, and the others."""
    toy = [text for text in lesson.examples if not unknown_words(text)]
    return toy, [text for text in lesson.examples if text not in toy]
