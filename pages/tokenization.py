"""Tokenization: from any text to ids, every step and every try in sight."""

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.text.characters import is_cjk, is_mark, is_punctuation
from minibert.text.vocab import SPECIAL_TOKENS, Merge, alphabet_of, check_vocab, count_words, looks_uncased, read_vocab
from minibert.text.vocab import learn as minibert_learn
from minibert.text.vocab_growth import (
    LearnedVocabulary,
    Segmentation,
    growing_vocabulary,
    kinds_so_far,
    learned_pieces,
    watch_learning,
    ways_to_cut,
)
from minibert.tokenizer import (
    UNK,
    Explanation,
    Part,
    Tokenizer,
    clean,
    decompose,
    space_out_cjk,
    split_off_punctuation,
    split_on_spaces,
)
from plots.tokenization import (
    STYLE,
    ChangedWord,
    boxes,
    cards,
    growth_of_vocabulary,
    ladder,
    marked_text,
    merge_card,
    origins,
    size_against_length,
)
from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, TEXT_WIDTH, Lesson, course_reviews
from ui.models import CHECKPOINTS
from ui.navigation import ROOT, next_lesson
from ui.source import show_source
from ui.state import follow_link, set_url, url_choice, url_int
from ui.stepper import stepper
from ui.text import kind_of, literal, shorten, tokens_html, visible
from ui.translations import _, ngettext

MOST_TEXT = 5_000  # characters that are stepped through
MOST_TOKENS = 300  # tokens drawn in one row
MOST_CHOICES = 60  # words to choose a ladder from
MOST_MERGES = 300  # steps to watch
START_MERGE = 12  # where the slider stands at first
MOST_WORDS = 36  # words drawn while learning
MOST_CORPUS = 100_000  # characters that a vocabulary is learned from
LEARNED, UPLOADED, OWN = "learned", "uploaded", "own"


# ---------------------------------------------------------------------------------------------------- vocabularies
@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary to choose. `name` stands in links; `path` is a vocab.txt or a folder with one, None if in memory."""

    name: str
    title: str
    path: Path | None
    pieces: tuple[str, ...] = ()
    uncased: bool | None = None  # of one in memory; None: look at the pieces


def vocabularies() -> dict[str, Vocabulary]:
    """Name → vocabulary: the models', this lesson's own, those found in a folder, this session's own."""
    own = LESSONS / "tokenization" / "vocabularies"
    models = [Vocabulary(path.name, path.name, path) for path in sorted(CHECKPOINTS.glob("*")) if path.is_dir()]
    lessons = [
        Vocabulary("en-cased", _("English, cased"), own / "en-cased"),
        Vocabulary("zh", _("Chinese"), own / "zh"),
    ]
    folder = Path(os.environ.get("MINIBERT_VOCABS") or ROOT / "vocabularies")
    found = [
        Vocabulary(path.stem, path.stem, path)
        for path in (sorted(folder.iterdir()) if folder.is_dir() else [])
        if path.suffix == ".txt" or path.is_dir()
    ]
    on_disk = [vocabulary for vocabulary in (*models, *lessons, *found) if file_of(vocabulary.path).is_file()]
    in_memory = [learned_vocabulary(), st.session_state.get("_uploaded-vocabulary")]
    known: dict[str, Vocabulary] = {}
    for vocabulary in filter(None, (*on_disk, *in_memory)):
        known.setdefault(vocabulary.name, vocabulary)
    return known


def learned_vocabulary() -> Vocabulary:
    """The one learned further down on this page; before anything was learned, what its first text gives."""
    if "_learned-vocabulary" not in st.session_state:
        learned = learning(bundled("parts"), True, "frequency")
        keep_learned(tuple(learned.pieces(len(learned.merges))), True)
    return st.session_state["_learned-vocabulary"]


def keep_learned(pieces: tuple[str, ...], lowercase: bool) -> None:
    st.session_state["_learned-vocabulary"] = Vocabulary(LEARNED, _("learned just now"), None, pieces, lowercase)


def file_of(path: Path) -> Path:
    return path / "vocab.txt" if path.is_dir() else path


@st.cache_resource(show_spinner=False, max_entries=24)
def _read(path: Path, version: int) -> tuple[tuple[str, ...], bool]:
    """The pieces, and whether the vocabulary is uncased. `version` renews a changed file."""
    if path.is_dir():
        tokenizer = Tokenizer.from_directory(path)
        return tuple(tokenizer.pieces), tokenizer.lowercase
    pieces = tuple(read_vocab(path))
    check_vocab(pieces)
    return pieces, looks_uncased(pieces)


def read(vocabulary: Vocabulary) -> tuple[tuple[str, ...], bool]:
    """The pieces and whether it is uncased. Raises ValueError with a sentence for the reader."""
    if vocabulary.path is None:
        uncased = looks_uncased(vocabulary.pieces) if vocabulary.uncased is None else vocabulary.uncased
        return vocabulary.pieces, uncased
    return _read(vocabulary.path, file_of(vocabulary.path).stat().st_mtime_ns)


def tokenizer_of(pieces: tuple[str, ...], lowercase: bool) -> tuple[str, Tokenizer]:
    """(what identifies it, the tokenizer), built once for everyone."""
    digest = hashlib.sha256("\n".join(pieces).encode("utf-8", "surrogatepass")).hexdigest() + str(lowercase)
    return digest, _tokenizer(digest, lowercase, pieces)


@st.cache_resource(show_spinner=False, max_entries=24)
def _tokenizer(digest: str, lowercase: bool, _pieces: tuple[str, ...]) -> Tokenizer:
    return Tokenizer(_pieces, lowercase=lowercase)


@st.cache_resource(show_spinner=False, max_entries=128)
def explained(digest: str, text: str, _tokenizer: Tokenizer) -> Explanation:
    """All steps of a text; shared by everyone, never changed."""
    return _tokenizer.explain(text)


def choose_vocabulary() -> tuple[Vocabulary, Tokenizer, str] | None:
    """The choice of vocabulary and of case. Returns it with its tokenizer and what identifies that."""
    known = vocabularies()
    if not known:
        st.error(_("There is no vocabulary here. Upload a vocab.txt below."), icon=":material/error:")
        return None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="vocabulary-choice"):
        titles = {name: vocabulary_label(vocabulary) for name, vocabulary in known.items()}
        name = choice("vocab", _("Vocabulary"), titles, wrap=True)
        vocabulary = known[name]
        try:
            pieces, uncased = read(vocabulary)
        except (ValueError, OSError) as error:
            st.error(literal(error), icon=":material/error:")
            return None
        lowercase = choose_case(name, uncased)
    digest, tokenizer = tokenizer_of(pieces, lowercase)
    return vocabulary, tokenizer, digest


def choose_case(name: str, uncased: bool) -> bool:
    """Whether to write small letters without accents; at first as the vocabulary was learned."""
    cases = {True: "uncased", False: "cased"}
    key = f"uncased-{name}-{uncased}"
    if follow_link("case") or key not in st.session_state:
        st.session_state[key] = url_choice("case", list(cases.values()), cases[uncased]) == "uncased"
    lowercase = st.toggle(
        _("uncased"),
        key=key,
        help=_("Small letters, no accents. Set as the vocabulary was learned; switch it, and see what no longer fits."),
    )
    set_url("case", cases[lowercase], default=cases[uncased])
    return lowercase


def vocabulary_label(vocabulary: Vocabulary) -> str:
    """Its title and how many entries it has."""
    try:
        return f"{literal(vocabulary.title)} · {len(read(vocabulary)[0]):,}"
    except (ValueError, OSError):
        return literal(vocabulary.title)  # what is wrong with it is said once it is chosen


@st.fragment
def upload() -> None:
    """A vocab.txt of the reader's own, for this session."""
    file = st.file_uploader(_("Your own vocab.txt"), key="upload", max_upload_size=10)
    if file is None:
        if st.session_state.pop("_uploaded-vocabulary", None) is not None:
            st.rerun()
        return
    data = file.getvalue()
    stamp = hashlib.sha256(data).hexdigest()
    if st.session_state.get("_uploaded-stamp") == stamp and "_uploaded-vocabulary" in st.session_state:
        st.success(_("It is in the list above, and chosen."), icon=":material/check_circle:")
        return
    try:
        pieces = read_bytes(data, file.name)
    except ValueError as error:
        st.error(literal(error), icon=":material/error:")
        return
    st.session_state["_uploaded-stamp"] = stamp
    st.session_state["_uploaded-vocabulary"] = Vocabulary(UPLOADED, file.name, None, pieces)
    st.session_state["_choose"] = UPLOADED
    st.rerun()


def read_bytes(data: bytes, name: str) -> tuple[str, ...]:
    """The pieces in an uploaded file. Raises ValueError that names it, and the line at fault."""
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


# ------------------------------------------------------------------------------------------------------- the steps
def shown(text: str) -> list[str]:
    """Each character as it should look."""
    return [visible(c, spaces=False) for c in text]


def kind(token: str) -> str:
    """How a token's box is drawn."""
    return {"plain": "", "piece": "piece", "unknown": "unk"}.get(kind_of(token), "special")


def more_words(e: Explanation) -> str:
    rest = e.word_count - len(e.words)
    return ngettext("… and {n:,} more word", "… and {n:,} more words", rest).format(n=rest) if rest > 0 else ""


def in_order(e: Explanation) -> list:
    """Words, and the special tokens found in the text, as they stand there."""
    return sorted(
        [*e.words, *e.specials], key=lambda one: one.offsets[0] if hasattr(one, "token") else one.split.offsets[0]
    )


def caption(text: str) -> None:
    st.markdown(f"**{text}**")


def step_clean(e: Explanation, tokenizer: Tokenizer) -> None:
    changes = {change.position: change for change in e.changes}
    if not changes:
        st.info(
            _("Nothing to clean here: no control characters, no invisible ones, only plain spaces."),
            icon=":material/check:",
        )
    runs: list[tuple[str, str, str]] = []
    for position, c in enumerate(e.text):
        change = changes.get(position)
        if change is None:
            runs.append((visible(c, spaces=False), "", ""))
            continue
        name = f"{change.code_point} {change.name}".strip()
        if change.became:
            runs += [(change.code_point, "out", f"{name}: {change.why}"), ("␣", "new", _("a plain space"))]
        else:
            runs.append((change.code_point, "out", f"{name}: {change.why}"))
    caption(_("Your text, character by character"))
    st.html(marked_text(runs))
    caption(_("After cleaning"))
    st.html(marked_text([(visible(e.cleaned, spaces=False), "", "")]))
    if changes:
        kinds = Counter((c.code_point, c.name, c.became, c.why) for c in e.changes)
        rows = [
            {
                _("character"): f"{point} {name}".strip(),
                _("how often"): count,
                _("what happens"): _("becomes a plain space") if became else _("dropped"),
                _("why"): why,
            }
            for (point, name, became, why), count in kinds.most_common(50)
        ]
        st.dataframe(rows, hide_index=True, width="content")
    show_source(clean)


def step_split(e: Explanation, tokenizer: Tokenizer) -> None:
    runs: list[tuple[str, str, str]] = []
    inserted = _("inserted beside a Chinese character")
    for c in e.cleaned:
        if c == " ":
            runs.append(("␣", "cut", ""))
        elif is_cjk(c):
            runs += [("␣", "new", inserted), (c, "", ""), ("␣", "new", inserted)]
        else:
            runs.append((visible(c, spaces=False), "", ""))
    caption(
        _("Spaces, and those inserted around {n} Chinese characters").format(n=len(e.cjk)) if e.cjk else _("Spaces")
    )
    st.html(marked_text(runs))
    caption(ngettext("{n:,} word", "{n:,} words", e.word_count).format(n=e.word_count))
    st.html(boxes([[word_box(one)] for one in in_order(e)], more_words(e)))
    show_source(split_on_spaces)
    show_source(space_out_cjk)


def word_box(one) -> tuple[str, str]:
    if hasattr(one, "token"):
        return visible(one.token), "special"
    text = one.split.text
    return visible(text), "cjk" if len(text) == 1 and is_cjk(text) else ""


def step_case(e: Explanation, tokenizer: Tokenizer) -> None:
    if not e.lowercase:
        st.info(
            _("This tokenizer is cased: capitals and accents stay. With an uncased vocabulary this step works."),
            icon=":material/match_case:",
        )
    rows = [[ChangedWord([visible(one.token)], {})] if hasattr(one, "token") else stages(one) for one in in_order(e)]
    changed = sum(len(lines) > 1 for lines in rows)
    if e.lowercase:
        caption(
            ngettext("{n:,} word changes", "{n:,} words change", changed).format(n=changed)
            if changed
            else _("No word changes: no capitals and no accents here.")
        )
    st.html(cards(rows, more_words(e)))
    show_source(decompose)
    show_source(Tokenizer.word, find="if self.lowercase")


def stages(word) -> list[ChangedWord]:
    """A word, taken apart, and in small letters; only the stages that change it."""
    lines = [ChangedWord(shown(word.split.text), {})]
    if word.decomposed.text != word.split.text or word.dropped:
        lost = {n: "out" for n, c in enumerate(word.decomposed.text) if is_mark(c)} if word.dropped else {}
        lines.append(
            ChangedWord(shown(word.decomposed.text), lost, _("taken apart") if not lost else _("accents dropped"))
        )
    small = {n: "changed" for n, (a, b) in enumerate(zip(word.stripped.text, word.lowered.text, strict=True)) if a != b}
    if small or len(lines) > 1:
        lines.append(ChangedWord(shown(word.lowered.text) or ["∅"], small, _("small letters") if small else ""))
    return lines


def step_punctuation(e: Explanation, tokenizer: Tokenizer) -> None:
    groups = [
        [(visible(one.token), "special")]
        if hasattr(one, "token")
        else [(visible(part.span.text), "punct" if is_punctuation(part.span.text[0]) else "") for part in one.parts]
        for one in in_order(e)
    ]
    split = sum(len(group) > 1 for group in groups)
    caption(
        ngettext("{n:,} word is split", "{n:,} words are split", split).format(n=split)
        if split
        else _("Nothing to split off: no punctuation touches a word here.")
    )
    st.html(boxes([group for group in groups if group], more_words(e)))
    show_source(split_off_punctuation)
    show_source(is_punctuation)


def step_wordpiece(e: Explanation, tokenizer: Tokenizer) -> None:
    parts = [part for word in e.words for part in word.parts]
    if not parts:
        st.info(_("No word has come this far."), icon=":material/edit:")
        return
    st.html(boxes([[(visible(piece), kind(piece)) for _s, _e, piece in part.pieces] for part in parts], more_words(e)))
    tries = [len(part.tries or ()) for part in parts]
    start = max(range(min(len(parts), MOST_CHOICES)), key=lambda n: (tries[n], parts[n].unknown is not None, -n))
    state = "word-choice"
    if follow_link("word"):
        st.session_state[state] = url_int("word", start + 1, 1, len(parts)) - 1
    if st.session_state.get("_word-of") != (e.text, id(tokenizer)):
        if "_word-of" in st.session_state:
            st.session_state.pop(state, None)
        st.session_state["_word-of"] = (e.text, id(tokenizer))
    if not 0 <= (st.session_state.get(state) or 0) < min(len(parts), MOST_CHOICES):
        st.session_state.pop(state, None)
    if st.session_state.get(state) is None:
        st.session_state[state] = start
    chosen = st.pills(
        _("The tries for one word (and how many there were)"),
        range(min(len(parts), MOST_CHOICES)),
        format_func=lambda n: literal(f"{shorten(parts[n].span.text, 24)} · {tries[n]}"),
        required=True,
        key=state,
    )
    set_url("word", chosen + 1, default=start + 1)
    if len(parts) > MOST_CHOICES:
        st.caption(_("The first {n} of {total:,} words can be chosen.").format(n=MOST_CHOICES, total=len(parts)))
    draw_ladder(parts[chosen], tokenizer)
    show_source(Tokenizer.wordpiece, find="in self.pieces")


def draw_ladder(part: Part, tokenizer: Tokenizer) -> None:
    tries = part.tries or []
    found = sum(one.found for one in tries)
    failed = ngettext("{n:,} try", "{n:,} tries", len(tries)).format(n=len(tries))
    found_text = ngettext("{n:,} piece found", "{n:,} pieces found", found).format(n=found)
    st.html(
        ladder(
            shown(part.span.text),
            tries,
            ids=tokenizer.ids,
            words={
                "yes": _("id {id:,}"),
                "no": _("not there"),
                "skipped": _("{n:,} more tries, each one character shorter"),
                "unk": _("id {id:,}").format(id=tokenizer.unk_id),
            },
            unknown=why_unknown(part, tokenizer),
            label=f"{failed}, {found_text}",
        )
    )
    st.markdown(f"{failed}, {found_text}.")


def why_unknown(part: Part, tokenizer: Tokenizer) -> str:
    if part.unknown is None:
        return ""
    length = len(part.span.text)
    if part.unknown.reason == "too_long":
        return _(
            "This word has {length:,} characters, and WordPiece tries none that is longer than {limit}: "
            "the whole word becomes [UNK]."
        ).format(length=length, limit=tokenizer.max_word_chars)
    at = part.unknown.position
    return _(
        "At character {at} of {length}, not even {character} by itself is in the vocabulary: "
        "the whole word becomes [UNK]."
    ).format(at=at + 1, length=length, character=("##" if at else "") + visible(part.span.text[at]))


def step_ids(e: Explanation, tokenizer: Tokenizer) -> None:
    encoding = e.encoding
    tokens, count = encoding.tokens[:MOST_TOKENS], len(encoding)
    unknown = sum(
        token == UNK and not special for token, special in zip(encoding.tokens, encoding.special, strict=True)
    )
    with st.container(horizontal=True, gap="large", key="counts"):
        for label, value in (
            (_("characters"), len(e.text)),
            (_("words between spaces"), len(e.text.split())),
            (_("tokens, with [CLS] and [SEP]"), count),
            (_("of them [UNK]"), unknown),
        ):
            st.metric(label, f"{value:,}")
    if follow_link("token") or "token" not in st.session_state:
        st.session_state["token"] = url_int("token", 2, 1, len(tokens))
    st.session_state["token"] = min(st.session_state["token"], len(tokens))
    place = st.container()
    chosen = st.slider(_("Token"), 1, len(tokens), key="token") - 1
    set_url("token", chosen + 1, default=2)
    last = max((end for _start, end in encoding.offsets[: len(tokens)]), default=0)
    cut = count > len(tokens)
    rest = ngettext("… and {n:,} more token", "… and {n:,} more tokens", count - len(tokens)).format(
        n=count - len(tokens)
    )
    text = e.text[:last] if cut else e.text
    with place:
        st.html(
            origins(
                shown(text) + (["…"] if cut else []),
                [visible(token) for token in tokens],
                [kind(token) for token in tokens],
                encoding.offsets[: len(tokens)],
                encoding.ids[: len(tokens)],
                chosen=chosen,
                more=rest if cut else "",
                labels=(_("your text"), _("tokens and their ids")),
            )
        )
    st.markdown(about_token(e, chosen))
    st.markdown(
        _("Put together again, the ids say: {text}. What the steps took away does not come back.").format(
            text=f"“{literal(shorten(tokenizer.decode(encoding.ids, skip_special=True), 400))}”"
        ),
        width=TEXT_WIDTH,
    )
    show_source(Tokenizer.encode)


def about_token(e: Explanation, chosen: int) -> str:
    encoding = e.encoding
    token = literal(visible(encoding.tokens[chosen]))
    start, end = encoding.offsets[chosen]
    what = _("Token {n}: **{token}**, id **{id:,}**").format(n=chosen + 1, token=token, id=encoding.ids[chosen])
    if encoding.words[chosen] is None:
        role = {"[CLS]": _("added in front: its vector will stand for the whole text")}.get(
            encoding.tokens[chosen], _("added at the end of the text")
        )
        return f"{what} – {role}."
    one = _("from character {start:,} of your text, “{text}”")
    several = _("from characters {start:,} to {end:,} of your text, “{text}”")
    where = (one if end - start == 1 else several).format(
        start=start + 1, end=end, text=literal(shorten(e.text[start:end], 60))
    )
    return f"{what} – {where}."


# Heading in the lesson, label in the stepper, view.
def steps() -> list[tuple[str, str, object]]:
    return [
        ("Clean", _("Clean"), step_clean),
        ("Split", _("Split"), step_split),
        ("Case and accents", _("Case"), step_case),
        ("Punctuation", _("Punctuation"), step_punctuation),
        ("WordPiece", _("WordPiece"), step_wordpiece),
        ("Tokens and ids", _("Ids"), step_ids),
    ]


@st.fragment
def tokenize() -> None:
    """A text, a vocabulary, and the steps from one to the ids."""
    text = sentence_input("text", lesson.examples, max_chars=MOST_TEXT)
    chosen = choose_vocabulary()
    if chosen is None:
        return
    vocabulary, tokenizer, digest = chosen
    e = explained(digest, text, tokenizer)
    if not text:
        st.info(_("Type something. The empty text becomes [CLS] [SEP] and nothing else."), icon=":material/edit:")
    everything = steps()
    step = stepper("step", [label for _heading, label, _view in everything])
    heading, _label, view = everything[step]
    lesson.show(heading)
    with st.container(border=True, key="stage"):
        view(e, tokenizer)
    if heading == "WordPiece":
        lesson.show("When it fails")
    lesson.show("A token is not a word")
    everywhere(text, vocabulary.name)


def everywhere(text: str, here: str) -> None:
    """The same text in each vocabulary."""
    for vocabulary in vocabularies().values():
        try:
            pieces, lowercase = read(vocabulary)
        except (ValueError, OSError):
            continue  # said where it is chosen
        digest, tokenizer = tokenizer_of(pieces, lowercase)
        encoding = explained(digest, text, tokenizer).encoding
        unknown = sum(t == UNK and not s for t, s in zip(encoding.tokens, encoding.special, strict=True))
        tokens = ngettext("{n:,} token", "{n:,} tokens", len(encoding)).format(n=len(encoding))
        title = f"**{literal(vocabulary.title)}**" + (f" ({_('chosen')})" if vocabulary.name == here else "")
        st.markdown(f"{title} · {tokens}" + (f" · {unknown:,} × [UNK]" if unknown else ""))
        st.html(tokens_html(encoding.tokens, under=encoding.ids, limit=60, label=vocabulary.title))


# ----------------------------------------------------------------------------------------- learning a vocabulary
def corpora() -> dict[str, str]:
    """Name in links → title of a text to learn from."""
    return {
        "parts": _("Words and their parts"),
        "reviews": _("802 reviews"),
        "chinese": _("Chinese"),
        OWN: _("your own text"),
    }


@st.cache_data(show_spinner=False)
def bundled(name: str) -> str:
    if name == "reviews":
        return "\n".join(course_reviews("train", "dev", "test"))
    file = {"parts": "word-parts.txt", "chinese": "chinese.txt"}[name]
    return (LESSONS / "tokenization" / file).read_text(encoding="utf-8")


def choose_corpus() -> str:
    """The text to learn from."""
    name = choice("corpus", _("Text to learn from"), corpora(), wrap=True)
    if name == OWN:
        return sentence_input(
            "own",
            [],
            label=_("Paste a text"),
            multiline=True,
            max_chars=MOST_CORPUS,
            default="",
            placeholder=_("A page or more"),
        )
    text = bundled(name)
    with st.expander(_("Read it ({n:,} characters)").format(n=len(text)), icon=":material/menu_book:"):
        st.text(text[:20_000])
    return text


@st.cache_data(show_spinner=False, max_entries=32)
def compared(text: str) -> tuple[dict[str, Segmentation], list[tuple[int, int]], tuple]:
    """Three ways to cut a text, WordPiece vocabularies of growing size, and how the kinds of words add up."""
    counted = count_words([text])
    pieces = learned_pieces([text], lowercase=True)
    start = len(SPECIAL_TOKENS) + len(alphabet_of(counted))
    return ways_to_cut(text), growing_vocabulary(counted, pieces, start), kinds_so_far(text.lower().split())


def compare(text: str) -> None:
    ways, curve, (read_words, kinds, letters) = compared(text)
    names = {
        "characters": _("characters"),
        "pieces": _("pieces, all that can be learned"),
        "words": _("words between spaces"),
    }
    letters_, words_ = ways["characters"], ways["words"]
    figure(
        size_against_length(
            {names[way]: (ways[way].entries, ways[way].tokens) for way in ("characters", "words")},
            curve,
            curve_name=_("pieces, more and more of them"),
            x_title=_("entries in the vocabulary (log scale)"),
            y_title=_("tokens for the whole text"),
        ),
        _(
            "The same text: {letters:,} different characters, {tokens:,} of them in a row; {words:,} different words, "
            "{row:,} in a row. WordPiece lies between: from {first:,} tokens with {small:,} entries to {last:,} with "
            "{large:,}."
        ).format(
            letters=letters_.entries,
            tokens=letters_.tokens,
            words=words_.entries,
            row=words_.tokens,
            first=curve[0][1],
            small=curve[0][0],
            last=curve[-1][1],
            large=curve[-1][0],
        ),
        key="size-figure",
        data=lambda: [{_("entries"): x, _("tokens"): y} for x, y in curve],
    )
    if words_.words < 10:
        st.caption(_("The text is too short to be cut in halves."))
        return
    lesson.show("What unknown means")
    for column, (way, name) in zip(st.columns(3), names.items(), strict=True):
        share = ways[way].lost / ways[way].words
        column.metric(
            name,
            f"{share:.1%}",
            _("{lost:,} of {words:,} words").format(lost=ways[way].lost, words=ways[way].words),
            delta_color="off",
            delta_arrow="off",
        )
    figure(
        growth_of_vocabulary(
            read_words,
            {_("different words"): kinds, _("different characters"): letters},
            x_title=_("words read"),
            y_title=_("different ones so far"),
        ),
        _("After {n:,} words: {words:,} different words, {letters:,} different characters.").format(
            n=read_words[-1], words=kinds[-1], letters=letters[-1]
        ),
        key="growth-figure",
    )
    show_source(ways_to_cut)


@st.cache_resource(show_spinner=False, max_entries=32)
def learning(text: str, lowercase: bool, scoring: str) -> LearnedVocabulary:
    """Every merge; shared by everyone, never changed."""
    return watch_learning(text, lowercase, scoring, MOST_MERGES)


@st.fragment
def learn_merges() -> None:
    """A vocabulary learned from a text, a merge at a time."""
    text = choose_corpus()
    rules = {"frequency": _("frequency"), "ratio": _("frequency, divided by that of its parts")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="learning-choice"):
        scoring = choice("scoring", _("The best pair is chosen by"), rules, wrap=True)
        lowercase = st.toggle(_("small letters, no accents"), value=True, key="learn-lower", bind="query-params")
    st.session_state["_corpus-text"] = text
    if not text.strip():
        st.info(_("Paste a text: a page of anything will do."), icon=":material/edit:")
        return
    with st.spinner(_("Learning …"), show_time=True):
        learned = learning(text, lowercase, scoring)
    last = len(learned.merges)
    step = choose_merge(last)
    with st.container(border=True, key="learning-stage"):
        show_merge(learned, step, scoring)
    if st.button(_("Use this vocabulary for your sentence"), icon=":material/arrow_upward:", key="use-learned"):
        keep_learned(tuple(learned.pieces(step)), lowercase)
        st.session_state["_choose"] = LEARNED
        st.rerun()
    show_source(minibert_learn, find="left, right = best")


def choose_merge(last: int) -> int:
    """How many merges have been done: a slider, and one more or one less."""
    if last == 0:
        st.info(
            _("No two pieces stand side by side twice, so nothing is merged: the vocabulary stays as it begins."),
            icon=":material/info:",
        )
        return 0
    if follow_link("merge") or "merge" not in st.session_state:
        st.session_state["merge"] = url_int("merge", min(START_MERGE, last), 0, last)
    st.session_state["merge"] = min(st.session_state["merge"], last)
    with st.container(horizontal=True, vertical_alignment="bottom", key="merge-choice"):
        step = st.slider(_("Merges so far"), 0, last, key="merge")
        for label, by, end in ((_("One less"), -1, 0), (_("One more"), 1, last)):
            st.button(label, key=f"merge-{by}", on_click=move_merge, args=(by, last), disabled=step == end)
    set_url("merge", step, default=min(START_MERGE, last))
    return step


def move_merge(by: int, last: int) -> None:
    st.session_state["merge"] = max(0, min(last, st.session_state["merge"] + by))


def show_merge(learned: LearnedVocabulary, step: int, scoring: str) -> None:
    cuts = learned.cuts(step)
    merge = learned.merges[step - 1] if step else None
    if merge is None:
        caption(_("At the start: {n:,} special tokens and characters").format(n=len(learned.start)))
    else:
        caption(_("Merge {n:,}").format(n=step))
        st.html(merge_card(visible(merge.left), visible(merge.right), visible(merge.new), arithmetic(merge, scoring)))
        changed = list(merge.words_changed)
        caption(ngettext("{n:,} word changes", "{n:,} words change", len(changed)).format(n=len(changed)))
        st.html(boxes([drawn(cuts[word], merge.new) for word in changed[:12]], "…" if len(changed) > 12 else ""))
    frequent = list(cuts.items())[:MOST_WORDS]
    caption(_("The most frequent words, as they are now"))
    st.html(
        boxes(
            [drawn(cut, merge.new if merge else None) for _word, cut in frequent], "…" if len(cuts) > MOST_WORDS else ""
        )
    )
    curve = [(learned.size(n), tokens) for n, tokens in enumerate(learned.tokens)]
    size, tokens = curve[step]
    st.markdown(
        _("Vocabulary: **{size:,} entries**. The text: **{tokens:,} tokens**, at the start {first:,}.").format(
            size=size, tokens=tokens, first=curve[0][1]
        )
    )
    figure(
        size_against_length(
            {},
            curve,
            curve_name=_("a merge at a time"),
            here=(size, tokens, _("here")),
            x_title=_("entries in the vocabulary (log scale)"),
            y_title=_("tokens for the text"),
        ),
        _("The text's length falls from {first:,} to {last:,} tokens while the vocabulary grows to {size:,}.").format(
            first=curve[0][1], last=curve[-1][1], size=curve[-1][0]
        ),
        key="learning-figure",
        height=360,
        data=lambda: [
            {_("merge"): m.step, _("left"): m.left, _("right"): m.right, _("new"): m.new, _("times"): m.pair_count}
            for m in learned.merges
        ],
    )


def drawn(cut: Sequence[str], new: str | None) -> list[tuple[str, str]]:
    """A word's pieces as boxes; the one just made stands out."""
    return [(visible(piece), "fresh" if piece == new else kind(piece)) for piece in cut]


def arithmetic(merge: Merge, scoring: str) -> str:
    """What this pair was best at."""
    if scoring == "frequency":
        return ngettext("side by side {n:,} time", "side by side {n:,} times", merge.pair_count).format(
            n=merge.pair_count
        )
    return _("{pair:,} / ({left:,} · {right:,}) = {score:.3g}").format(
        pair=merge.pair_count, left=merge.left_count, right=merge.right_count, score=merge.score
    )


@st.fragment
def words_pieces_characters() -> None:
    """What the size of a vocabulary costs and what it buys."""
    which = {"reviews": corpora()["reviews"], "above": _("the text above")}
    name = choice("compare", _("Text to compare on"), which, wrap=True)
    text = st.session_state.get("_corpus-text", "") if name == "above" else bundled("reviews")
    if not text.strip():
        st.info(_("There is no text above yet."), icon=":material/edit:")
        return
    compare(text)


lesson = Lesson("tokenization")
st.html(STYLE)
if "_choose" in st.session_state:
    st.session_state["vocab"] = st.session_state.pop("_choose")
lesson.show_title()
lesson.show("The question", title=False)
tokenize()
lesson.show("Where a vocabulary comes from")
learn_merges()
lesson.show("Words, pieces or characters?")
words_pieces_characters()
lesson.show("About these vocabularies")
upload()
lesson.quiz()
next_lesson("tokenization")
