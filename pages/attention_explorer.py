"""Attention explorer: every head of every layer, what kinds there are, and what breaks when they are switched off."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ui import attention_views, bertviz, held_out
from ui.figures import figure
from ui.inputs import choice, clicked, numbered, pick, sentence_input, state
from ui.lesson import Lesson
from ui.models import load, model_choice, version_of, warn_untrained
from ui.navigation import next_lesson
from ui.source import show_source
from ui.state import follow_link, set_url
from ui.text import literal, tex
from ui.translations import _

if TYPE_CHECKING:
    from minibert.head_cost import Answers, Difference
    from minibert.head_kinds import HeadKinds
    from minibert.reading import Reading

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

MAX_CHARS = 4_000  # characters of a sentence that are read
MAX_TOKENS = 512
SMALL = 32  # pixels a side of a small picture at most
MANY = 64  # tokens from which all heads of a layer at once are no longer the first thing shown
SHARE = 60  # percent of each row's mass that is drawn at first
THRESHOLD = 40  # percent from which a score names a head
LINES = {"head": 50_000, "model": 60_000}  # a browser draws each line of BertViz as an object
NEURONS = 400_000  # numbers that the neuron view is sent at most

Head = tuple[int, int]  # layer, head
lesson = Lesson("attention_explorer")


# ------------------------------------------------------------------------------------------------------ what is seen
@dataclass(frozen=True)
class Subject:
    """A model looked into. Its version changes with its weights, so that nothing stale is shown."""

    name: str
    version: int

    @classmethod
    def of(cls, name: str) -> "Subject":
        return cls(name, version_of(name))

    @property
    def model(self) -> Any:
        return load(self.name).model

    @property
    def tokenizer(self) -> Any:
        return load(self.name).tokenizer

    @property
    def shape(self) -> Head:
        config = load(self.name).config
        return config.num_hidden_layers, config.num_attention_heads

    def head(self, layer: int, head: int) -> Head:
        """That head, or the last one if there are fewer."""
        layers, heads = self.shape
        return min(layer, layers - 1), min(head, heads - 1)


@st.cache_resource(show_spinner=False, max_entries=6)
def seen(subject: Subject, reading: "Reading") -> dict[str, Any]:
    """probs (L, A, T, T), query and key (L, A, T, D), float32, shared by all sessions: read only."""
    import torch

    from minibert.model import Batch

    kept: dict[str, list] = {"probs": [], "query": [], "key": []}

    def watch(name: str, x: Any) -> Any:
        last = name.rpartition(".")[2]
        if ".attn." in name and last in kept:
            kept[last].append(x[0].float())
        return x

    bert = getattr(subject.model, "bert", subject.model)
    with torch.inference_mode():
        bert(Batch(torch.tensor([reading.ids]), torch.tensor([reading.segments])), watch)
    return {name: torch.stack(values) for name, values in kept.items()}


@st.cache_resource(show_spinner=False, max_entries=32)
def measured_kinds(subject: Subject, on: str) -> "HeadKinds":
    """Scores of all heads on our sentences ("text") or on stories of the toy world ("toy")."""
    from minibert import head_kinds

    longest = subject.model.config.max_position_embeddings
    if on == "toy":
        read = head_kinds.stories(subject.tokenizer, held_out.toy_stories(), longest)
    else:
        texts = held_out.texts(held_out.kind_of_text(subject.tokenizer))
        read = head_kinds.sentences(subject.tokenizer, texts, longest)
    return head_kinds.measure(subject.model, read)


@st.cache_resource(show_spinner=False, max_entries=16)
def questions(subject: Subject) -> list | None:
    """What the model is asked to see what a head costs: hidden words of our sentences, or the classes of our reviews.

    None for a model whose answers we have no set for.
    """
    from minibert import head_cost
    from minibert.heads import BertForSequenceClassification
    from minibert.model import BertForPreTraining

    model, tokenizer = subject.model, subject.tokenizer
    kind, longest = held_out.kind_of_text(tokenizer), model.config.max_position_embeddings
    if isinstance(model, BertForPreTraining):
        return head_cost.hidden_words(tokenizer, held_out.texts(kind), longest)
    if isinstance(model, BertForSequenceClassification) and model.problem == "single_label_classification":
        rows = [(text, label) for text, label in held_out.reviews(kind) if label in model.labels]
        if rows and len(rows) == len(held_out.reviews(kind)):
            classes = [model.labels.index(label) for _text, label in rows]
            return head_cost.labelled(tokenizer, [text for text, _label in rows], classes, longest)
    return None


@st.cache_resource(show_spinner=False, max_entries=16)
def means(subject: Subject) -> Any:
    from minibert.interventions import mean_outputs

    return mean_outputs(subject.model, questions(subject))


@st.cache_resource(show_spinner=False, max_entries=256)
def answers(subject: Subject, off: tuple[Head, ...], mean: bool) -> "Answers":
    """How the model answers all questions without these heads."""
    from minibert.head_cost import without

    return without(subject.model, questions(subject), off, means(subject) if mean else None)


@st.cache_resource(show_spinner=False, max_entries=256)
def costs_of_layer(subject: Subject, layer: int, mean: bool) -> "list[tuple[Difference, Difference]]":
    from minibert.head_cost import layer_costs

    replaced = means(subject) if mean else None
    return layer_costs(subject.model, questions(subject), layer, answers(subject, (), mean), replaced)


@st.cache_resource(show_spinner=False, max_entries=16)
def confidences(subject: Subject) -> Any:
    from minibert.head_cost import confidence

    return confidence(subject.model, questions(subject))


# ------------------------------------------------------------------------------------------------------------- words
def parts() -> list[str]:
    return [_("Look"), _("Kinds of heads"), _("Switch heads off"), "BertViz"]


def head_name(layer: int, head: int) -> str:
    return _("layer {layer}, head {head}").format(layer=layer + 1, head=head + 1)


def kind_names() -> dict[str, str]:
    """Kinds of minibert.head_kinds in the learner's words."""
    return {
        "previous": _("previous token"),
        "next": _("next token"),
        "itself": _("itself"),
        "same_word": _("same word"),
        "sep": "[SEP]",
        "cls": "[CLS]",
        "antecedent": _("true antecedent"),
        "broad": _("broad"),
    }


def all_names(subject: Subject) -> list[str]:
    layers, heads = subject.shape
    return [head_name(layer, head) for layer in range(layers) for head in range(heads)]


def signed(value: float, digits: int = 3) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def pick_head(subject: Subject) -> Head:
    layers, heads = subject.shape
    layer = pick("layer", _("Layer"), [_("{n} of {all}").format(n=n + 1, all=layers) for n in range(layers)])
    head = pick("head", _("Head"), [_("{n} of {all}").format(n=n + 1, all=heads) for n in range(heads)])
    return layer, head


def small_pictures(
    subject: Subject,
    reading: "Reading",
    key: str,
    on_click: Callable[[dict], Any],
    labels: Sequence[str] = (),
    *,
    selected: Head | None = None,
    crossed: Sequence[Head] = (),
) -> None:
    """Every head as a small picture of its attention in the sentence."""
    from minibert.attention_summary import small_copies
    from plots.attention_payloads import heads_payload

    names = all_names(subject)
    titles = [f"{name}: {label}" if label else name for name, label in zip(names, labels or names, strict=True)]
    payload = heads_payload(
        small_copies(seen(subject, reading)["probs"], SMALL),
        labels or [""] * len(names),
        titles if labels else names,
        selected=selected,
        crossed=crossed,
    )
    attention_views.show("heads", payload, key, on_click, file="attention-heads")


def open_head(told: dict) -> None:
    st.session_state[state("layer")], st.session_state[state("head")] = max(0, told["layer"]), max(0, told["head"])


def open_cell(told: dict) -> None:
    """A token of the lines, a head among them, or a cell of the matrix. The first choice of a token is “all”."""
    if "head" in told:
        st.session_state[state("head")] = max(0, told["head"])
        st.session_state["heads"] = "one"
    for name in ("row", "column"):
        if name in told:
            now = st.session_state.get(state(name))
            again = len(told) == 1 and now == told[name] + 1  # once more the token clicked before: let go of it
            st.session_state[state(name)] = 0 if again else max(0, told[name] + 1)


# -------------------------------------------------------------------------------------------------------------- look
@st.fragment
def look(sides: "list[tuple[Subject, Reading]]") -> None:
    subject, reading = sides[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = choice("view", _("View"), {"lines": _("lines"), "matrix": _("matrix")})
        layer, head = pick_head(subject)
        tokens = [_("all"), *numbered(reading.tokens)]
        row = pick("row", _("From"), tokens) - 1
        column = pick("column", _("To"), tokens) - 1
    if view == "lines":
        with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
            shown = {"one": _("this head"), "all": _("all heads of the layer")}
            heads = choice("heads", _("Lines of"), shown)
            share = st.slider(
                _("Share of each token's attention that is drawn"),
                10,
                100,
                SHARE,
                key="share",
                format="%d %%",
                bind="query-params",
                width=360,
            )
            hide = st.toggle(_("Hide [CLS] and [SEP]"), key="bare", bind="query-params")
    else:
        heads, share, hide = "one", SHARE, False
    if len(sides) == 1:
        left, right = st.columns([9, 11], gap="medium")
        with left:
            st.markdown(f"**{_('All heads: click one')}**")
            small_pictures(subject, reading, "explorer-heads", open_head, selected=(layer, head))
        with right:
            one_side(subject, reading, (layer, head), (row, column), view, heads, share / 100, hide, "a")
        return
    for box, (subject, reading), key in zip(st.columns(2, gap="medium"), sides, "ab", strict=True):
        with box:
            here = subject.head(layer, head)
            st.markdown(literal(" ".join(reading.tokens[1:-1])[:120]) + f" · **{literal(subject.name)}**")
            one_side(subject, reading, here, (row, column), view, heads, share / 100, hide, key)
            small_pictures(subject, reading, f"explorer-heads-{key}", open_head, selected=here)


def one_side(
    subject: Subject,
    reading: "Reading",
    at: Head,
    cell: tuple[int, int],
    view: str,
    heads: str,
    share: float,
    hide: bool,
    key: str,
) -> None:
    """A sentence read by a model: lines or matrix of a head, and the numbers behind what is chosen."""
    from plots.attention_payloads import matrix_payload

    row, column = (place if 0 <= place < reading.length else None for place in cell)
    probs = seen(subject, reading)["probs"]
    layer, head = at
    st.markdown(f"**{head_name(layer, head) if heads == 'one' else _('layer {n}, all heads').format(n=layer + 1)}**")
    if view == "matrix":
        payload = matrix_payload(reading.tokens, probs[layer, head], row=row, column=column)
        attention_views.show("matrix", payload, f"explorer-matrix-{key}", open_cell, file="attention-matrix")
    else:
        lines(probs, reading, at, (row, column), heads, share, hide, key)
    if row is not None:
        numbers(subject, reading, at, row, column, key)
    elif view == "lines":
        st.caption(_("Click a token on the left to see where it looks, one on the right to see who looks at it."))


def lines(
    probs: Any,
    reading: "Reading",
    at: Head,
    cell: tuple[int | None, int | None],
    heads: str,
    share: float,
    hide: bool,
    key: str,
) -> None:
    import torch

    from minibert.attention_summary import strongest_edges
    from plots.attention_payloads import lines_payload

    layer, head = at
    chosen = [head] if heads == "one" else list(range(probs.size(1)))
    words = set(reading.words)
    special = [place not in words for place in range(len(reading.tokens))]
    edges = strongest_edges(probs[layer, chosen], share, ~torch.tensor(special) if hide else None)
    payload = lines_payload(reading.tokens, edges, chosen, faint=special, row=cell[0], column=cell[1])
    attention_views.show("lines", payload, f"explorer-lines-{key}", open_cell, file="attention-lines")
    if not len(edges.weights):
        st.caption(_("Nothing is left to draw."))
        return
    said = _("{n:,} lines hold {drawn:.0%} of the attention among the tokens shown.").format(
        n=len(edges.weights), drawn=edges.drawn.nanmean().item()
    )
    if edges.drawn[~edges.drawn.isnan()].min() < share - 1e-4:
        said += " " + _("More would not be told apart.")
    if hide:
        said += " " + _("{hidden:.0%} of it goes to [CLS] and [SEP].").format(hidden=edges.hidden.nanmean().item())
    st.caption(said)


def numbers(subject: Subject, reading: "Reading", at: Head, row: int, column: int | None, key: str) -> None:
    """What a token attends to, exactly; of one pair, the arithmetic."""
    from minibert.one_head import SoftmaxRow, entropy

    found = seen(subject, reading)
    layer, head = at
    probs = found["probs"][layer, head, row]
    if column is not None:
        query, k = found["query"][layer, head, row].double(), found["key"][layer, head].double()
        soft = SoftmaxRow(k @ query / math.sqrt(len(query)))
        i, j, less = row + 1, column + 1, f" - {soft.shift:.1f}" if soft.shift else ""
        st.latex(
            rf"\begin{{aligned}} s_{{{i},{j}}} &= \frac{{q_{{{i}}} \cdot k_{{{j}}}}}{{\sqrt{{{len(query)}}}}}"
            rf" = {tex(soft.scores[column].item())} \\ p_{{{i},{j}}} &="
            rf" \frac{{e^{{{tex(soft.scores[column].item())}{less}}}}}{{{tex(soft.total)}}}"
            rf" = \mathbf{{{probs[column].item():.6f}}} \end{{aligned}}"
        )
    order = probs.argsort(descending=True).tolist()
    rows = order[:8] if column is None or column in order[:8] else [*order[:7], column]
    st.dataframe(
        pd.DataFrame(
            {
                _("to"): [f"{place + 1} · {reading.tokens[place]}" for place in rows],
                _("share"): [probs[place].item() for place in rows],
            }
        ),
        hide_index=True,
        key=f"explorer-numbers-{key}",
        column_config={_("share"): st.column_config.NumberColumn(format="%.6f")},
    )
    rest = 1 - sum(probs[place].item() for place in rows)
    st.caption(
        _("From {token}; all others together {rest:.1%}. Entropy {bits:.2f} of {most:.2f} bits.").format(
            token=literal(f"{row + 1} · {reading.tokens[row]}"),
            rest=max(0.0, rest),
            bits=entropy(probs).item(),
            most=math.log2(len(probs)),
        )
    )


# ------------------------------------------------------------------------------------------------------------- kinds
@st.fragment
def kinds_of_heads(subject: Subject, reading: "Reading") -> None:
    from minibert.head_kinds import KINDS, targets
    from plots.head_kinds import kind_scores

    toy = held_out.kind_of_text(subject.tokenizer) == "toy"
    names = {"text": _("our sentences"), "toy": _("stories of the toy world")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        on = choice("on", _("Measured on"), {"toy": names["toy"]} if toy else names)
        threshold = st.slider(
            _("Score from which a head gets the name"),
            20,
            90,
            THRESHOLD,
            key="threshold",
            format="%d %%",
            bind="query-params",
            width=360,
        )
        layer, head = pick_head(subject)
    with st.spinner(_("Measuring every head …")):
        kinds = measured_kinds(subject, on)
    named, words = kinds.named(threshold / 100), kind_names()
    labels = [
        "–" if kind is None else f"{words[kind]} {kinds.score(kind, i, a):.0%}"
        for i, row in enumerate(named)
        for a, kind in enumerate(row)
    ]
    left, right = st.columns([11, 10], gap="medium")
    with left:
        small_pictures(subject, reading, "explorer-kinds", open_head, labels, selected=(layer, head))
        tally = pd.Series([words[kind] for row in named for kind in row if kind]).value_counts()
        st.markdown(
            _("**{n} of {all}** heads have a name: {kinds}.").format(
                n=int(tally.sum()), all=len(labels), kinds=", ".join(f"{k} {n}" for k, n in tally.items()) or "–"
            )
        )
    with right:
        counted = [k for k in range(len(KINDS)) if kinds.rows[k]]
        scores = kinds.scores[:, layer, head]
        st.markdown(f"**{head_name(layer, head)}**")
        figure(
            kind_scores(
                [words[KINDS[k]] for k in counted],
                scores[counted],
                kinds.chance[counted],
                (_("this head"), _("even attention")),
                threshold=threshold / 100,
            ),
            _("Scores of {head}: {scores}.").format(
                head=head_name(layer, head),
                scores=", ".join(f"{words[KINDS[k]]} {scores[k].item():.1%}" for k in counted),
            ),
            "explorer-scores",
            data=lambda: pd.DataFrame(
                kinds.scores.flatten(1).T.numpy(), all_names(subject), [words[kind] for kind in KINDS]
            ),
        )
        st.caption(
            _("Counted: {rows}.").format(rows=", ".join(f"{words[KINDS[k]]} {int(kinds.rows[k]):,}" for k in counted))
        )
    show_source(targets)


# -------------------------------------------------------------------------------------------------------- switch off
def heads_off(subject: Subject) -> tuple[Head, ...]:
    """The heads that are switched off, in the link as `off=1.2-3.4` (layer.head, from 1)."""
    layers, heads = subject.shape
    if follow_link("off"):
        st.session_state["heads-off"] = _parse(st.query_params.get("off", ""))
    off = st.session_state.setdefault("heads-off", frozenset())
    off = tuple(sorted((i, a) for i, a in off if i < layers and a < heads))
    set_url("off", "-".join(f"{i + 1}.{a + 1}" for i, a in off), default="")
    return off


def _parse(link: str) -> frozenset[Head]:
    pairs = [part.split(".") for part in link.split("-")]
    good = (pair for pair in pairs if len(pair) == 2 and all(p.isascii() and p.isdigit() and len(p) < 4 for p in pair))
    return frozenset((int(i) - 1, int(a) - 1) for i, a in good if int(i) and int(a))


def toggle_head(told: dict) -> None:
    open_head(told)
    head = (told["layer"], told["head"])
    st.session_state["heads-off"] = frozenset(st.session_state.get("heads-off", frozenset()) ^ {head})


def set_off(heads: Sequence[Head]) -> None:
    st.session_state["heads-off"] = frozenset(heads)


@st.fragment
def switch_off(subject: Subject, reading: "Reading") -> None:
    asked = questions(subject)
    if asked is None:
        st.info(
            _(
                "This model neither fills blanks nor judges reviews, so there is no score of ours to lose. "
                "Choose another."
            ),
            icon=":material/help:",
        )
        return
    off = heads_off(subject)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        layer, head = pick_head(subject)
        silence = {"zero": _("zeros"), "mean": _("its mean")}
        mean = choice("silence", _("In the head's place"), silence) == "mean"
    left, right = st.columns([9, 11], gap="medium")
    with left:
        st.markdown(f"**{_('Click a head to switch it off or on')}**")
        small_pictures(subject, reading, "explorer-switches", toggle_head, selected=(layer, head), crossed=off)
        switches(subject, layer, head, off)
    with right:
        effect_on_answer(subject, reading, off, mean)
        effect_on_set(subject, off, mean)


def switches(subject: Subject, layer: int, head: int, off: tuple[Head, ...]) -> None:
    """Many heads at once."""
    from minibert.head_cost import all_but

    layers, heads = subject.shape
    many = {
        _("All on"): [],
        _("Layer {n} off").format(n=layer + 1): [(layer, a) for a in range(heads)],
        _("All but {head} in its layer").format(head=head_name(layer, head)): all_but(
            layers, heads, (layer, head), everywhere=False
        ),
        _("All but {head}").format(head=head_name(layer, head)): all_but(layers, heads, (layer, head), everywhere=True),
        _("All off"): [(i, a) for i in range(layers) for a in range(heads)],
    }
    with st.container(horizontal=True, gap="small", key="many-switches"):
        for number, (label, chosen) in enumerate(many.items()):
            st.button(
                label, key=f"many-{number}", on_click=set_off, args=(tuple(chosen),), disabled=set(off) == set(chosen)
            )
    st.caption(_("{n} of {all} heads are off.").format(n=len(off), all=layers * heads))


def effect_on_answer(subject: Subject, reading: "Reading", off: tuple[Head, ...], mean: bool) -> None:
    """The sentence's own answer with all heads and without those: a blank filled, or a class."""
    from minibert.interventions import fill_logits, switched_off, total_variation
    from minibert.model import BertForPreTraining, no_tap
    from plots.attention import compared_words

    tap = switched_off(off, means(subject) if mean else None) if off else no_tap
    if isinstance(subject.model, BertForPreTraining):
        if not reading.words:
            st.info(_("There is no word to hide. Type a sentence above."), icon=":material/edit:")
            return
        words = [f"{i + 1} · {reading.tokens[i]}" for i in reading.words]
        with st.container(width=400):
            position = reading.words[pick("hide", _("Word to hide"), words, default=last_word(reading))]
        batch = reading.hiding(position).batch()
        before, after = (fill_logits(subject.model, batch, position, one)[0] for one in (no_tap, tap))
        entries = subject.tokenizer.vocab
    else:
        import torch

        with torch.inference_mode():
            before, after = (subject.model(reading.batch(), one).logits[0].float() for one in (no_tap, tap))
        entries = subject.model.labels
    p, q = before.softmax(-1), after.softmax(-1)
    count = min(4, len(entries))
    ids = list(dict.fromkeys(i for one in (p, q) for i in one.topk(count).indices.tolist()))
    shown, names = [entries[i] for i in ids], (_("all heads"), _("without them"))
    table = pd.DataFrame(
        {
            _("answer"): shown,
            _("logit"): before[ids].numpy(),
            _("logit without"): after[ids].numpy(),
            _("probability"): p[ids].numpy(),
            _("probability without"): q[ids].numpy(),
        }
    )
    told = ", ".join(f"{word} {p[i]:.1%} → {q[i]:.1%}" for word, i in zip(shown, ids, strict=True))
    figure(
        compared_words(shown, p[ids], q[ids], names),
        _("Answers with all heads and without {n} of them: {told}.").format(n=len(off), told=told),
        "explorer-answer",
        data=lambda: table,
    )
    st.dataframe(
        table[[_("answer"), _("logit"), _("logit without")]].assign(**{_("change"): (after - before)[ids].numpy()}),
        hide_index=True,
        key="explorer-logits",
        column_config={
            name: st.column_config.NumberColumn(format="%.4f") for name in (_("logit"), _("logit without"), _("change"))
        },
    )
    st.markdown(
        _("**{moved:.1%}** of the probability moved.").format(moved=total_variation(p.double(), q.double()).item())
    )


def last_word(reading: "Reading") -> int:
    """Place among the words of a [MASK] that was typed, else of the last word with a letter in the first sentence."""
    first = [at for at, i in enumerate(reading.words) if reading.segments[i] == 0] or [0]
    typed = [at for at in first if reading.tokens[reading.words[at]] == "[MASK]"]
    named = [at for at in first if any(char.isalnum() for char in reading.tokens[reading.words[at]])]
    return (typed or named or first)[-1]


def task_name(subject: Subject) -> tuple[str, str]:
    """What the questions of `questions` are, and the name of their accuracy."""
    from minibert.model import BertForPreTraining

    if isinstance(subject.model, BertForPreTraining):
        kind = {"toy": _("stories of the toy world"), "zh": _("Chinese reviews"), "en": _("English sentences")}
        of = kind[held_out.kind_of_text(subject.tokenizer)]
        return _("hidden words of our {of}").format(of=of), _("Words filled in right")
    return _("reviews held back from training"), _("Reviews judged right")


def effect_on_set(subject: Subject, off: tuple[Head, ...], mean: bool) -> None:
    from minibert.head_cost import difference

    with st.spinner(_("Asking the model …")):
        before, after = answers(subject, (), mean), answers(subject, off, mean)
    what, accuracy = task_name(subject)
    right = difference(after.right, before.right)
    loss = difference(after.losses, before.losses)
    with st.container(horizontal=True, gap="large", key="explorer-set"):
        st.metric(
            accuracy,
            f"{after.accuracy:.1%}",
            _("{change} points ± {error:.1f}").format(change=signed(100 * right.mean, 1), error=200 * right.error),
            delta_color="off",
            delta_arrow="off",
        )
        st.metric(
            _("Loss, in nats"),
            f"{after.loss:.3f}",
            f"{signed(loss.mean)} ± {2 * loss.error:.3f}",
            delta_color="off",
            delta_arrow="off",
        )
    st.caption(
        _("{n:,} {what}; with all heads {accuracy:.1%} and {loss:.3f}. ± is two standard errors of the change.").format(
            n=len(before.losses), what=what, accuracy=before.accuracy, loss=before.loss
        )
    )


@st.fragment
def rank_heads(subject: Subject) -> None:
    """Each head off alone, on the whole set; beside it how sharply it looks."""
    from minibert.head_cost import layer_costs

    if questions(subject) is None:
        return
    layers, heads = subject.shape
    mean = st.session_state.get("silence") == "mean"
    wanted = st.toggle(_("Rank all {n} heads").format(n=layers * heads), key="rank", bind="query-params")
    if not wanted:
        st.caption(_("Each is switched off alone and the model asked everything again. Switch off here to stop."))
        return
    done, rows = st.empty(), []
    for layer in range(layers):  # a layer at a time, each kept: who comes back goes on from there
        done.progress(layer / layers, _("Layer {n} of {all}").format(n=layer + 1, all=layers))
        rows += costs_of_layer(subject, layer, mean)
    done.empty()
    show_ranking(subject, rows)
    show_source(layer_costs)


def show_ranking(subject: Subject, rows: "list[tuple[Difference, Difference]]") -> None:
    import torch

    from minibert.interventions import rank_correlation
    from plots.attention import weight_and_effect
    from plots.head_kinds import ranking

    names, heads = all_names(subject), subject.shape[1]
    costs = torch.tensor([loss.mean for loss, _right in rows])
    errors = torch.tensor([loss.error for loss, _right in rows])
    sharp = confidences(subject).flatten()
    layer, head = subject.head(st.session_state.get(state("layer"), 0), st.session_state.get(state("head"), 0))
    chosen = layer * heads + head

    def table() -> pd.DataFrame:
        kinds, words = (
            measured_kinds(subject, "toy" if held_out.kind_of_text(subject.tokenizer) == "toy" else "text"),
            kind_names(),
        )
        named = [kind for row in kinds.named(THRESHOLD / 100) for kind in row]
        return pd.DataFrame(
            {
                _("loss rises by"): costs,
                _("standard error"): errors,
                _("accuracy changes by"): [right.mean for _loss, right in rows],
                _("mean largest share"): sharp,
                _("kind"): ["–" if kind is None else words[kind] for kind in named],
            },
            index=names,
        )

    left, right = st.columns([10, 11], gap="medium")
    with left:
        st.markdown(f"**{_('What the loss of each head costs')}**")
        figure(
            ranking(names, costs, errors, _("loss rises by, nats"), selected=chosen),
            _("Dearest: {dear}, {most:+.3f} nats. Cheapest: {cheap}, {least:+.3f}.").format(
                dear=names[costs.argmax()], most=costs.max(), cheap=names[costs.argmin()], least=costs.min()
            ),
            "explorer-ranking",
            on_select=lambda: open_place("explorer-ranking", heads),
            data=table,
        )
    even, sure = disagreeing(sharp, costs)
    with right:
        st.markdown(f"**{_('Attention against effect')}**")
        figure(
            weight_and_effect(
                names,
                sharp,
                costs,
                axes=(_("its mean largest share"), _("loss rises by, nats")),
                marked={even: names[even], sure: names[sure]},
            ),
            _("{n} heads: how sharply each looks, and what its loss costs.").format(n=len(names)),
            "explorer-disagree",
            on_select=lambda: open_place("explorer-disagree", heads),
        )
        rho = rank_correlation(sharp, costs)
        if not math.isnan(rho):
            st.markdown(
                _("Rank correlation of sharpness and cost: **{rho}** (+1 is full agreement, 0 none).").format(
                    rho=signed(rho, 2)
                )
            )
        st.markdown(
            _(
                "Where they disagree: of the sharpest third, **{sure}** costs least: a mean largest share of {w:.0%}, "
                "and {a} nats. Of the least sharp third, **{even}** costs most: {v:.0%}, and {b} nats."
            ).format(
                sure=names[sure],
                w=sharp[sure].item(),
                a=signed(costs[sure].item()),
                even=names[even],
                v=sharp[even].item(),
                b=signed(costs[even].item()),
            )
        )


def disagreeing(sharp: Any, costs: Any) -> tuple[int, int]:
    """Of the third of the heads that look least sharply the dearest, of the sharpest third the cheapest."""
    order, third = sharp.argsort(), max(1, len(sharp) // 3)
    even, sure = order[:third], order[-third:]
    return even[costs[even].argmax()].item(), sure[costs[sure].argmin()].item()


def open_place(chart: str, heads: int) -> None:
    """A click on a head in a figure, its customdata the head's place among all."""
    clicked(chart, "explorer-place")
    if (place := st.session_state.pop("explorer-place", None)) is not None:
        open_head({"layer": place // heads, "head": place % heads})


# ----------------------------------------------------------------------------------------------------------- BertViz
@st.fragment
def bertviz_views(sides: "list[tuple[Subject, Reading]]", pairs: list[tuple[str, str | None]]) -> None:
    dark = st.context.theme.type == "dark"
    layer, head = (st.session_state.get(state(name), 0) for name in ("layer", "head"))
    views = {"head": _("Head view"), "model": _("Model view"), "neuron": _("Neuron view")}
    with st.container(horizontal=True, gap="large"):
        wanted = [
            name
            for name, label in views.items()
            if st.toggle(label, value=name == "head", key=f"bertviz_{name}", bind="query-params")
        ]
    st.caption(_("BertViz counts layers and heads from 0."))
    for name in wanted:
        st.markdown(f"### {views[name]}")
        lesson.show(("The head view", "The model view", "The neuron view")[list(views).index(name)], title=False)
        wide = name != "head" or len(sides) == 1
        boxes = [st.container() for _side in sides] if wide else st.columns(len(sides), gap="medium")
        for box, (subject, _reading), pair, key in zip(boxes, sides, pairs, "ab", strict=False):
            with box:
                bertviz_view(name, subject, pair, subject.head(layer, head), dark, f"bertviz-{name}-{key}", views[name])


def bertviz_view(
    name: str, subject: Subject, pair: tuple[str, str | None], at: Head, dark: bool, key: str, label: str
) -> None:
    reading, whole = shortened(subject, pair, name)
    found, tokens = seen(subject, reading), list(reading.tokens)
    second = reading.segments.index(1) if 1 in reading.segments else None
    if whole > len(tokens):
        st.caption(
            _("The first {n} of {whole} tokens: BertViz makes every line an object.").format(n=len(tokens), whole=whole)
        )
    size, (layers, heads) = len(tokens), subject.shape
    if name == "head":
        html, height = bertviz.head_view(found["probs"], tokens, second, layer=at[0], dark=dark), 80 + 23 * size
    elif name == "model":
        html = bertviz.model_view(found["probs"], tokens, second, dark=dark)
        height = 90 + max(round(layers * (84 * size / max(8, heads) + 10)), 18 * size + 60)
    else:
        layer, head = at
        parts_ = (found["probs"], found["query"], found["key"], tokens, second)
        html, height = bertviz.neuron_view(*parts_, layer=layer, head=head, dark=dark), 160 + 26 * size
    alt = _("{view} of BertViz: {model}, {n} tokens.").format(view=label, model=subject.name, n=size)
    bertviz.show(html, key, alt, min(height, 760))


def shortened(subject: Subject, pair: tuple[str, str | None], view: str) -> "tuple[Reading, int]":
    """The pair as far as a view of BertViz can draw it, and how many tokens it has whole."""
    layers, heads = subject.shape
    size = subject.model.config.head_size
    lines_ = {"head": heads, "model": layers * heads}
    limit = MAX_TOKENS
    if view == "neuron":
        while layers * heads * (limit**2 + 2 * size * limit) > NEURONS:
            limit -= 1
    else:
        limit = math.isqrt(LINES[view] // lines_[view])
    whole = read(subject, *pair)
    return read(subject, *pair, limit=max(4, limit)), len(whole.ids)


# ---------------------------------------------------------------------------------------------------------- the page
def read(subject: Subject, text: str, second: str | None, limit: int = MAX_TOKENS) -> "Reading":
    from minibert.reading import Reading

    longest = min(limit, subject.model.config.max_position_embeddings)
    return Reading.of(subject.tokenizer, text, second or None, longest)


lesson.show_title()
lesson.show("The question")
left, right = st.columns([3, 2], gap="medium")
with left:
    text = sentence_input("sentence", lesson.examples, max_chars=MAX_CHARS)
with right:
    second = sentence_input(
        "second", [], label=_("A second sentence"), max_chars=MAX_CHARS, placeholder=_("may stay empty")
    )
with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
    name = model_choice()
    beside = {"none": _("nothing"), "sentence": _("another sentence"), "model": _("another model")}
    compare = choice("compare", _("Side by side with"), beside)
other = name
pairs = [(text, second or None)]
if compare == "sentence":
    pairs.append((sentence_input("other", [], default=lesson.examples[-1], label=_("The other sentence")), None))
elif compare == "model":
    pairs.append(pairs[0])
    with st.container(width=400):
        other = model_choice("other_model", label=_("The other model"))
with st.spinner(_("Loading the model …")):
    names_ = [name, other][: len(pairs)]
    sides = [(subject, read(subject, *pair)) for subject, pair in zip(map(Subject.of, names_), pairs, strict=True)]
warn_untrained(name)
for subject, reading in sides:
    whole = len(subject.tokenizer.encode(text, second or None)) if compare != "sentence" else len(reading.ids)
    if whole > len(reading.ids):
        st.info(
            _("Your text has {whole} tokens. {model} reads {n} of them.").format(
                whole=whole, model=literal(subject.name), n=len(reading.ids)
            ),
            icon=":material/content_cut:",
        )

# Only the open part is computed and drawn.
looking, kinds_, switching, viewing = st.tabs(parts(), key="part", on_change="rerun", bind="query-params")
if looking.open:
    with looking:
        lesson.show("Look", title=False)
        look(sides)
if kinds_.open:
    with kinds_:
        lesson.show("Kinds of heads", title=False)
        kinds_of_heads(*sides[0])
        lesson.show("What the names do not say")
if switching.open:
    with switching:
        lesson.show("Switch heads off", title=False)
        switch_off(*sides[0])
        lesson.show("What each head costs")
        rank_heads(sides[0][0])
        lesson.show("What follows from it")
if viewing.open:
    with viewing:
        lesson.show("BertViz", title=False)
        bertviz_views(sides, pairs)
lesson.quiz()
next_lesson("attention_explorer")
