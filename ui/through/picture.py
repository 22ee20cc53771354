"""One sentence through BERT: the picture on a page. It is drawn and moves in the browser; a click opens a lesson."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from plots.grammar import MASK, SEGMENT_A, SEGMENT_B
from ui.figures import in_words
from ui.first_views import first_view, stored
from ui.limits import warn_beyond
from ui.model_cache import load, loaded, outline_of, version_of
from ui.model_registry import UNTRAINED, title_of
from ui.navigation import find_page
from ui.player import component, playing
from ui.stages import stages
from ui.state import follow_link, set_url, url_choice, url_int
from ui.through.passage import MOST_TOKENS, Passage
from ui.through.payload import compact, frame, numbers
from ui.translations import _, pgettext
from ui.window import around, with_first

if TYPE_CHECKING:
    from minibert.inside.one_pass import OnePass
    from minibert.tokenizer import Encoding, Tokenizer

KEY = "through"
_GO = "_through-go"  # session_state key: (page, query parameters) to switch to after a click
_HTML = """<div class="mb-through">
<div class="bar"><div class="models" role="radiogroup"></div><div class="way">
<button type="button" class="back"></button><button type="button" class="play"></button>
<button type="button" class="on"></button></div></div>
<nav class="names"></nav>
<div class="scene"><svg role="img" tabindex="0"></svg><div class="moving" aria-hidden="true"></div>
<div class="answers"></div><p class="tip" hidden></p></div>
<p class="said" aria-live="polite"></p><p class="legend"></p>
</div>"""


def title_and_about(name: str) -> tuple[str, str]:
    """(title of a model in the picture, how much it was trained on)."""
    known = {
        UNTRAINED: (_("Random weights"), _("has read nothing")),
        "mini-en": ("mini-en", _("has read for an evening")),
        "minilm-en": ("minilm-en", _("has read a library")),
        "mini-zh": ("mini-zh", _("has read Chinese for an evening")),
    }
    return known.get(name, (title_of(name), ""))


def pass_of(name: str, passage: Passage) -> "OnePass":
    """What a model computes for a passage: of the first one from a file, so that a server that has just started need
    not import torch."""
    return _pass(name, version_of(name), passage)


def at_once(passage: Passage) -> bool:
    """Whether `pass_of` needs no model that is still to be loaded."""
    return all(loaded([name]) or stored(*_view(name, passage)) for name in passage.models)


@st.cache_resource(show_spinner=False, max_entries=64)
def _pass(name: str, version: int, passage: Passage) -> "OnePass":
    from minibert.inside.one_pass import OnePass, blank_at, intermediates

    encoding = encoded(name, passage)

    def computed() -> dict:
        one_pass = OnePass.of(encoding, intermediates(load(name).model, encoding), passage.start)
        return {**one_pass.values, **({} if one_pass.logits is None else {"logits": one_pass.logits})}

    values = first_view(*_view(name, passage), computed)
    logits = values.pop("logits", None)
    one_pass = OnePass(encoding, values, blank_at(encoding, passage.start), logits)
    return one_pass.near(rows_drawn(encoding, passage))


def encoded(name: str, passage: Passage) -> "Encoding":
    return outline_of(name).tokenizer.encode(passage.hidden, passage.second or None)


def rows_drawn(encoding: "Encoding", passage: Passage) -> tuple[int, ...]:
    """The positions that the picture has room for: [CLS], and those around the blank."""
    from minibert.inside.one_pass import blank_at

    return with_first(around(len(encoding), MOST_TOKENS, blank_at(encoding, passage.start) or 0))


def _view(name: str, passage: Passage) -> tuple[str, str, str, list]:
    return "through", "pass", name, [passage.hidden, passage.second, passage.start]


def sent(name: str, passage: Passage, waiting: bool = False) -> dict:
    """Data of one model for the picture. waiting: only what is known without its weights."""
    title, about = title_and_about(name)
    outline, encoding = outline_of(name), encoded(name, passage)
    texts, rows = (passage.hidden, passage.second), rows_drawn(encoding, passage)
    known = frame(name, title, about, outline, encoding, texts, passage.word, rows)
    return known if waiting else known | _numbers(name, version_of(name), passage, outline.tokenizer)


@st.cache_data(show_spinner=False, max_entries=256)
def _numbers(name: str, version: int, passage: Passage, _tokenizer: "Tokenizer") -> dict:
    return numbers(pass_of(name, passage), _tokenizer, passage.word)


def show_picture(passage: Passage, waiting: bool, guess_first: bool = False) -> None:
    """Draw the picture. The link stores the model, the stage and the framed token as `model`, `stage`, `framed`.
    guess_first: what is expected for the hidden word is left out, as the page asks for it below."""
    models = [sent(name, passage, waiting) for name in passage.models]
    if guess_first:
        models = [{name: model[name] for name in model if name not in ("guesses", "place")} for model in models]
    state, names = st.session_state, list(passage.models)
    if follow_link("model") or state.get("model") not in names:
        state["model"] = url_choice("model", names, names[-1])
    identity = repr((passage.hidden, passage.second, names))
    if follow_link("stage") or "stage" not in state:
        state["stage"] = url_int("stage", 0, 1, 99)
    elif state.get("_through-shown") not in (None, identity):
        state["stage"] = 0  # a new sentence starts at the letters
        state["through-token"] = 0  # and frames the hidden word
    if follow_link("framed") or "through-token" not in state:
        state["through-token"] = url_int("framed", 0, 0, 512)
    state["_through-shown"] = identity
    set_url("model", state["model"], default=names[-1])
    set_url("stage", state["stage"] or None)
    set_url("framed", state["through-token"] or None)
    alt = in_a_sentence(models[names.index(state["model"])])
    component("through", _HTML, Path(__file__).with_name("picture"))(
        key=KEY,
        data={
            "identity": identity,
            "waiting": waiting,
            "models": [compact(model) for model in models],
            "model": names.index(state["model"]),
            "stage": state["stage"],
            "token": state["through-token"],
            "pages": _pages(),
            "hues": {"mask": MASK, "segments": [SEGMENT_A, SEGMENT_B]},
            "alt": alt,
            "words": _words(bool(passage.second)),
        },
        on_told_change=_store_reported,
        on_go_change=lambda: _note_click(passage),
        width="stretch",
    )
    if any(model["count"] > len(model["tokens"]) for model in models):
        said = _(
            "The models read everything. Drawn are {n} tokens around the hidden word: hide another, and they move."
        )
        st.caption(said.format(n=MOST_TOKENS - 1))
    if not waiting:
        for model in models:
            warn_beyond(model["name"], model["count"])
        in_words(alt, f"{KEY}-words", lambda: table(models[names.index(state["model"])]))
    if _GO in state:
        page, query = state.pop(_GO)
        st.switch_page(page, query_params=query)


def in_a_sentence(model: dict) -> str:
    """Text alternative of the picture."""
    words = _(
        "{title}: {tokens} tokens go through {layers} blocks of {heads} heads and a feed-forward network."
    ).format(**{**model, "tokens": model["count"]})
    if "guesses" not in model:
        return words
    piece, share, *_rest = model["guesses"][0]
    words += " " + _("For the hidden “{word}” it expects most “{piece}”, {share}.").format(
        word=model["word"], piece=piece, share=share
    )
    if model["follows"]:
        words += " " + _("That the second sentence follows has a probability of {share}.").format(
            share=model["follows"][1]
        )
    return words


def table(model: dict) -> list[dict]:
    """One row per token: the norms of its input vectors, and how much each block adds."""
    rows = []
    for i, token in enumerate(model["tokens"]):
        row: dict[str, Any] = {_("position"): model["rows"][i], _("token"): token, _("id"): model["ids"][i]}
        names = (_("token vector"), _("segment vector"), _("position vector"), _("their sum"))
        row |= {name: part[i] / 100 for name, part in zip(names, model["lengths"], strict=True)}
        for layer, (heads, network) in enumerate(model["adds"], 1):
            row[_("block {n}: heads add").format(n=layer)] = heads[i] / 100
            row[_("block {n}: feed-forward adds").format(n=layer)] = network[i] / 100
        rows.append(row)
    return rows


# --- the user's clicks ------------------------------------------------------------------------------------------------


def _store_reported() -> None:
    """Callback: store the model, the stage and the framed token that the component reports."""
    reported = (st.session_state.get(KEY) or {}).get("told")
    if not isinstance(reported, dict):
        return
    if isinstance(reported.get("model"), str):
        st.session_state["model"] = reported["model"]
    if isinstance(reported.get("stage"), int):
        st.session_state["stage"] = max(0, min(reported["stage"], 99))
    if isinstance(reported.get("token"), int):
        st.session_state["through-token"] = max(0, min(reported["token"], 512))


def _note_click(passage: Passage) -> None:
    go = (st.session_state.get(KEY) or {}).get("go")
    if isinstance(go, dict) and (lesson := lesson_at(go, passage)):
        stop = find_page(lesson[0])
        if stop is not None:
            st.session_state[_GO] = (stop.path, lesson[1])


def lesson_at(place: dict, passage: Passage) -> tuple[str, dict[str, str]] | None:
    """(lesson about the clicked place, its query parameters: the same sentence, model, layer, head and token). place:
    {"to": name of a stage, "model", "layer", "head", "row"}, counted from 0; None if it is invalid."""
    page = {stage.name: stage.page for stage in stages()}.get(place.get("to"))
    model = place.get("model")
    if page is None or model not in passage.models:
        return None
    at = {
        name: str(place[name] + 1)
        for name in ("layer", "head", "row")
        if type(place.get(name)) is int and 0 <= place[name] < 512
    }
    sentence, second = passage.hidden, passage.second
    text = second if place.get("second") else passage.text
    own = {"model": model}
    place_of_head = {name: at[name] for name in ("layer", "head", "row") if name in at}
    of_token = {"layer": at.get("layer"), "token": at.get("row")}
    query = {
        "letters": {"part": "Step by step", "text": text, "step": "1"},
        "pieces": {"part": "Step by step", "text": text, "step": "5"},
        "vectors": {"a": passage.text, **({"b": second} if second else {"pair": "false"}), **own},
        "heads": {"sentence": sentence, "second": second, **own, **place_of_head},
        "network": {"part": "The block", "sentence": sentence, **own, **of_token},
        "blank": {"cloze": sentence, **own},
        "pair": {"part": "Judged live", "a": passage.text, "b": second, **own},
        "class": {"task": "classification", **({} if model == UNTRAINED else own)},
    }[place["to"]]
    return page, {name: value for name, value in query.items() if value}


def _pages() -> dict[str, str]:
    """Stage → address of its lesson, for opening it in another tab; {} if the page runs without the course."""
    return {stage.name: stage.page for stage in stages() if find_page(stage.page)}


def _words(pair: bool) -> dict[str, Any]:
    """Texts of the picture; its script fills in the parts in braces. pair: whether there is a second sentence."""
    return {
        "models": _("Model"),
        "letters": _("Letters"),
        "pieces": _("Pieces"),
        "vectors": _("Vectors"),
        "block": _("Block {n}"),
        "answers": _("Answers"),
        **playing(),
        "back": _("Step back"),
        "on": pgettext("a button", "Step"),
        "loading": _("Loading the model …"),
        "open": _("Click: the lesson"),
        "inside": _("Click: the inside of this block, step by step"),
        "happens": [
            _("The text as it is typed, and one word that is hidden."),
            _("The text is cut into pieces of a fixed vocabulary."),
            _("Each piece gets three vectors, which are added: which piece, which sentence, which position."),
            _("“{token}” takes something from the other tokens (lines); then a network works on each token alone."),
            _("The last vectors answer. Lines: where “{token}” looks. Point at another word, or press ↑ ↓."),
        ],
        "legend": {
            **({"segments": _("first or second sentence")} if pair else {}),
            "mask": _("the hidden word"),
            "strip": _("six numbers of a vector: below 0, 0, above"),
            "heads": _("a head: its largest share, 0 to 1"),
            "line": _("where the framed token looks"),
            "circle": _("how much the heads add"),
            "box": _("how much the feed-forward network adds"),
        },
        "piece": _("“{letters}” is piece {row} of {count}: {token}, number {id} in a vocabulary of {vocab}."),
        "frame": _("{token} is put in: piece {row} of {count}, number {id} in a vocabulary of {vocab}."),
        "blankpiece": _("“{word}” is hidden: the model reads {token}, number {id}."),
        "part0": _("The vector of the piece “{token}”, {length} long: {values} … ({drawn} of {hidden} numbers)"),
        "part1": _("The vector of its sentence, {side}, {length} long: {values} …"),
        "part2": _("The vector of position {row}, {length} long: {values} …"),
        "part3": _("The sum of the three, {length} long: {values} … It is normalised before block 1."),
        "head": _("Block {layer}, head {head}: “{from}” looks most at “{to}”, {share}."),
        "look": _("Block {layer}: “{from}” takes {share} from “{to}” (mean of {heads} heads; head {head}: {most})."),
        "among": _("(Of the tokens drawn.)"),
        "heads": _("Block {layer}: what the heads add to “{token}” is {ratio} times as long as its own vector."),
        "network": _(
            "Block {layer}: what the feed-forward network adds to “{token}” is {ratio} times as long as what it got."
        ),
        "state": _("“{token}” after block {layer}: {values} … ({drawn} of {hidden} numbers)"),
        "follows": _("Does the second follow?"),
        "yes": _("yes: {share}"),
        "no": _("no: {share} that it does"),
        "tossup": _("a toss-up: {share}"),
        "single": _("no second sentence"),
        "class": _("A class?"),
        "noclass": _("Here a task’s one layer would read this vector."),
        "expects": _("“{word}” hidden: expected"),
        "guess": _("The question below comes first."),
        "place": _("“{word}” is number {n}: {share}"),
        "stage": _("Stage {n} of {all}: {name}."),
        "a": _("the first"),
        "b": _("the second"),
    }
