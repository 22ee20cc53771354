"""Encoder and decoder: the whole block, three masks, a Transformer trained live, and what BERT cannot do."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from ui.figures import figure, legend
from ui.inputs import choice, clicked, numbered, pick, sentence_input, state
from ui.lesson import Lesson
from ui.models import WELL_READ, load, model_choice, version_of, warn_untrained
from ui.runs import live, manager, own_runs, show_refusal, state_rows, submit
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, show_tokens, tex, visible
from ui.translations import _

if TYPE_CHECKING:
    from minibert.inside.block_arithmetic import OneBlock, Sublayer
    from minibert.inside.model_input import ModelInput
    from minibert.toy.seq2seq import Decoding, Trained

# torch, and all that imports it, is imported where it is first needed: the page shows before that.

KIND = "encoder-decoder"
MAX_CHARS = 300  # characters of a sentence that are read
MAX_TOKENS = 16  # of the block's part, [CLS] and [SEP] among them
MAX_SQUARES = 8  # words in the pictures of the masks: three stand side by side
LONGEST = 8  # words that the trained model reads
GUESSES = 5

lesson = Lesson("encoder_decoder")

# Words in this page's figures in the page's own text colour: the chart theme's grey is too faint for the back row.
st.html("""<style>
[class*="st-key-ed-"] :is([class$="tick"] text, [class$="title"], .annotation-text, .bartext-outside) {
  fill: currentColor !important;
}
.st-key-part [role="tab"] p { font-size: 1.2rem; }
</style>""")


# ----------------------------------------------------------------------------------------------- pieces of the page
def parts() -> list[str]:
    return [_("The block"), _("Three masks"), _("Train a Transformer"), _("Can BERT write?")]


def tell(*numbers: tuple[str, str]) -> None:
    """Numbers with their names, in a row."""
    with st.container(horizontal=True, gap="medium"):
        for name, value in numbers:
            st.metric(name, value, width="content")


# -------------------------------------------------------------------------------------------------------- the block
@st.cache_resource(show_spinner=False, max_entries=64)
def trace(model: str, version: int, reading: "ModelInput") -> dict:
    """Every intermediate of the encoder, shared by all sessions: read only."""
    from minibert.inside.head_arithmetic import record
    from minibert.inside.vectors import encoder_of

    return record(encoder_of(load(model).model), reading.batch())


@dataclass(frozen=True)
class Place:
    """One step through a block: its name in the stepper and in the figure, its section of the lesson."""

    label: str
    box: str
    section: str


def places() -> list[Place]:
    return [
        Place(_("Input"), "x", "Step: what comes in"),
        Place(_("Attention"), _("attention"), "Step: attention"),
        Place(_("Add"), "+", "Step: add"),
        Place(_("Norm"), _("LayerNorm"), "Step: LayerNorm"),
        Place(_("Feed-forward"), _("feed-forward"), "Step: feed-forward"),
        Place(_("Add"), "+", "Step: add"),
        Place(_("Norm"), _("LayerNorm"), "Step: LayerNorm"),
    ]


@st.fragment
def the_block(text: str) -> None:
    from minibert.inside.block_arithmetic import take_block_apart
    from minibert.inside.model_input import ModelInput

    with st.container(horizontal=True):
        model = model_choice(fill=True, usual=WELL_READ)
        loaded = load(model)
        reading = ModelInput.of(loaded.tokenizer, text, None, MAX_TOKENS)
        count = loaded.config.num_hidden_layers
        layer = pick("layer", _("Layer"), [_("{n} of {all}").format(n=n + 1, all=count) for n in range(count)])
        tokens = [visible(token) for token in reading.tokens]
        token = pick("token", _("Token"), numbered(tokens), default=1)
    warn_untrained(model)
    seen = trace(model, version_of(model), reading)
    block = take_block_apart(loaded.model, seen, layer)
    step = stepper("step", [place.label for place in places()])
    left, right = st.columns([5, 9], gap="medium")
    with left:
        circuit(block, token, step, tokens[token])
    with right:
        lesson.show(places()[step].section, title=False)
        half = block.attention if step < 4 else block.feed_forward
        if step == 0:
            show_input(block, token)
        elif step in (1, 4):
            show_added(block, half, token, step)
        elif step in (2, 5):
            show_sum(half, token)
        else:
            show_norm(half, token)
    find = 'tap("attn.norm"' if step < 4 else 'tap("out"'
    if step == 4:
        from minibert.model import FeedForward

        show_source(FeedForward.forward)
    else:
        from minibert.model import Block

        show_source(Block.forward, find)
    show_kept(seen, tokens, layer, token)


def length(vector: Any) -> float:
    return vector.double().norm().item()


def circuit(block: "OneBlock", token: int, step: int, word: str) -> None:
    from plots.encoder_decoder import block_circuit

    first, second = block.attention, block.feed_forward
    vectors = (first.x, first.added, first.sum, first.out, second.added, second.sum, second.out)
    notes = [_("‖·‖ {n:.2f}").format(n=length(vector[token])) for vector in vectors]
    figure(
        block_circuit([place.box for place in places()], notes, step),
        _("The block, from bottom to top, with the length of the vector of {token} at each place: {notes}.").format(
            token=word, notes=", ".join(f"{p.label} {n}" for p, n in zip(places(), notes, strict=True))
        ),
        "ed-circuit",
        on_select=lambda: clicked("ed-circuit", "step-step"),
    )


def show_input(block: "OneBlock", token: int) -> None:
    x = block.attention.x[token].double()
    tell(
        (_("norm of x"), f"{length(x):.3f}"),
        (_("mean"), f"{x.mean().item():.4f}"),
        (_("variance"), f"{x.var(correction=0).item():.4f}"),
        (_("numbers (H)"), f"{len(x)}"),
    )
    show_distribution({"x": x}, "ed-input")


def show_added(block: "OneBlock", half: "Sublayer", token: int, step: int) -> None:
    from minibert.inside.block_arithmetic import cosine

    x, added = half.x[token], half.added[token]
    tell(
        (_("norm of what comes in"), f"{length(x):.3f}"),
        (_("norm of what is added"), f"{length(added):.3f}"),
        (_("ratio"), f"{length(added) / length(x):.1%}"),
        (_("cosine of the two"), f"{cosine(x, added).item():+.3f}"),
    )
    if step == 4:
        hidden = block.hidden[token]
        st.markdown(
            _("Of the **{all}** numbers in the middle (F), GELU leaves **{n}** above 0.1 for this token.").format(
                all=len(hidden), n=int((hidden > 0.1).sum())
            )
        )
    show_distribution({"x": x.double(), _("added"): added.double()}, "ed-added")


def show_sum(half: "Sublayer", token: int) -> None:
    from minibert.inside.block_arithmetic import cosine

    x, added, total = half.x[token].double(), half.added[token].double(), half.sum[token]
    place = show_strips({"x": x, "f(x)": added, "x + f(x)": total}, "ed-sum")
    st.latex(
        rf"\begin{{aligned}}x[{place + 1}] + f(x)[{place + 1}]"
        rf" &= {tex(x[place].item())} + {tex(added[place].item())} \\"
        rf"&= \mathbf{{{total[place].item():.4f}}}\end{{aligned}}"
    )
    tell(
        ("‖x‖", f"{length(x):.3f}"),
        ("‖f(x)‖", f"{length(added):.3f}"),
        ("‖x + f(x)‖", f"{length(total):.3f}"),
        (_("cosine of x and sum"), f"{cosine(x, total).item():+.3f}"),
    )


def show_norm(half: "Sublayer", token: int) -> None:
    from plots.attention import number

    s, out = half.sum[token], half.normalized[token]
    place = show_strips({"s": s, "LN(s)": out}, "ed-norm")
    mean, variance = half.mean[token].item(), half.variance[token].item()
    gain, bias = half.norm.weight[place].item(), half.norm.bias[place].item()
    st.latex(
        rf"\begin{{aligned}}\mathrm{{LN}}(s)[{place + 1}] &= \frac{{{tex(s[place].item())} - {tex(mean)}}}"
        rf"{{\sqrt{{{variance:.4f} + \varepsilon}}}} \cdot {tex(gain)} + {tex(bias)} \\"
        rf"&= {tex(half.standardized[token, place].item())} \cdot {tex(gain)} + {tex(bias)}"
        rf" = \mathbf{{{out[place].item():.4f}}}\end{{aligned}}"
    )
    standardized = half.standardized[token]
    rows = {_("before"): s, _("standardised"): standardized, _("after gain and bias"): out}
    table = {
        "": list(rows),
        _("mean"): [number(row.mean().item(), 4) for row in rows.values()],
        _("variance"): [f"{row.var(correction=0).item():.4f}" for row in rows.values()],
        _("norm"): [f"{length(row):.3f}" for row in rows.values()],
    }
    st.table(pd.DataFrame(table).set_index(""))
    show_distribution(rows, "ed-spread")


def show_strips(rows: dict[str, Any], key: str) -> int:
    """The vectors under each other; the number picked or clicked, from 0."""
    from plots.encoder_decoder import strips

    size = len(next(iter(rows.values())))
    with st.container(width=260):
        place = pick("number", _("Number of the vector"), [str(h + 1) for h in range(size)])
    figure(
        strips({name: row.numpy() for name, row in rows.items()}, place),
        _("The {n} numbers of each vector; number {place}: {values}.").format(
            n=size, place=place + 1, values=", ".join(f"{name} {row[place].item():.4f}" for name, row in rows.items())
        ),
        key,
        on_select=lambda: clicked(key, state("number")),
        data=lambda: pd.DataFrame({name: row.numpy() for name, row in rows.items()}, index=range(1, size + 1)),
    )
    return place


def show_distribution(rows: dict[str, Any], key: str) -> None:
    from plots.encoder_decoder import distribution

    told = "; ".join(
        _("{name}: {low:.2f} … {high:.2f}, mean {mean:.3f}").format(
            name=name, low=row.min().item(), high=row.max().item(), mean=row.mean().item()
        )
        for name, row in rows.items()
    )
    figure(
        distribution({name: row.numpy() for name, row in rows.items()}, _("the vector's numbers")),
        _("How the numbers of each vector are spread. {told}.").format(told=told),
        key,
    )


def show_kept(seen: dict, tokens: list[str], layer: int, token: int) -> None:
    from minibert.inside.block_arithmetic import kept_by_layer
    from plots.encoder_decoder import grid

    lesson.show("How much is kept", level=3)
    kept = kept_by_layer(seen)  # (L, T)
    rows = [_("layer {n}").format(n=n + 1) for n in range(len(kept))]
    figure(
        grid(kept.numpy(), rows, tokens, selected=(layer, token), low=min(0.0, kept.min().item())),
        _("Cosine between input and output of each block. {token} in layer {layer}: {value:.3f}.").format(
            token=tokens[token], layer=layer + 1, value=kept[layer, token].item()
        ),
        "ed-kept",
        on_select=lambda: clicked("ed-kept", state("layer"), state("token")),
        data=lambda: pd.DataFrame(kept.numpy(), index=rows, columns=numbered(tokens)),
    )


# -------------------------------------------------------------------------------------------------------- the masks
def mask_names() -> dict[str, str]:
    return {"encoder": _("Encoder"), "decoder": _("Decoder"), "both": _("Encoder–decoder")}


def kinds(mask: str, count: int, start: int) -> list[list[str]]:
    """(N, N): how row i sees column j, in words of plots.encoder_decoder; the target begins at `start`."""
    import torch

    from minibert.attention_masks import causal_mask, padding_mask, prefix_mask
    from plots.encoder_decoder import CROSS, SELF, UNSEEN

    if mask == "encoder":
        allowed = padding_mask(torch.ones(1, count, dtype=torch.bool)).expand(1, 1, count, count)
    elif mask == "decoder":
        allowed = causal_mask(count)
    else:
        allowed = prefix_mask((torch.arange(count) >= start).long()[None])
    seen = allowed[0, 0].tolist()
    across = [[mask == "both" and j < start <= i for j in range(count)] for i in range(count)]
    return [
        [CROSS if across[i][j] else SELF if seen[i][j] else UNSEEN for j in range(count)] for i in range(count)
    ]  # fmt: skip


@st.fragment
def three_masks(text: str) -> None:
    from minibert.toy.seq2seq import split_words
    from plots.encoder_decoder import CROSS, LOOK, SELF, UNSEEN, mask_squares

    words = [visible(word) for word in split_words(text)[:MAX_SQUARES]]
    if len(words) < 2:
        st.info(_("Type at least two words above."), icon=":material/edit:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        position = pick("position", _("Position (row)"), numbered(words), default=len(words) // 2)
        start = 1 + pick(
            "target", _("The target begins at"), numbered(words)[1:], default=max(0, (len(words) + 1) // 2 - 1)
        )
        mask = choice("mask", _("In detail"), mask_names())
    legend(
        [
            (LOOK[SELF][0], "■", _("sees it by self-attention")),
            (LOOK[CROSS][0], "◆", _("sees it by cross-attention")),
            (LOOK[UNSEEN][0], "×", _("cannot see it")),
        ]
    )
    panels = {name: kinds(name, len(words), start) for name in mask_names()}
    sights = {
        name: [word for word, kind in zip(words, cells[position], strict=True) if kind != UNSEEN]
        for name, cells in panels.items()
    }
    counted = {
        name: _("{mask}\nsees {n} of {all}").format(mask=title, n=len(sights[name]), all=len(words))
        for name, title in mask_names().items()
    }
    figure(
        mask_squares(words, {counted[name]: cells for name, cells in panels.items()}, position),
        _("What {word} sees. {sights}.").format(
            word=words[position],
            sights="; ".join(f"{title}: {', '.join(sights[name])}" for name, title in mask_names().items()),
        ),
        "ed-masks",
        on_select=lambda: clicked("ed-masks", state("position")),
        data=lambda: pd.DataFrame(panels[mask], index=numbered(words), columns=numbered(words)),
    )
    show_mask(mask, words, position, start)


def show_mask(mask: str, words: list[str], position: int, start: int) -> None:
    """The chosen mask in numbers, and the code that made it."""
    from minibert import attention_masks
    from plots.encoder_decoder import UNSEEN

    cells = kinds(mask, len(words), start)
    open_cells = sum(cell != UNSEEN for row in cells for cell in row)
    said = {
        "encoder": _("Only padding is hidden, and there is none here."),
        "decoder": _("n (n + 1) / 2 of n²: about half, and never anything to the right."),
        "both": _(
            "The {s} source words see each other; the {t} target words see all of them, and their own past."
        ).format(s=start, t=len(words) - start),
    }[mask]
    st.markdown(
        _("{name}: **{open} of {all}** pairs are open. {said}").format(
            name=mask_names()[mask], open=open_cells, all=len(words) ** 2, said=said
        )
    )
    show_source(
        {
            "encoder": attention_masks.padding_mask,
            "decoder": attention_masks.causal_mask,
            "both": attention_masks.prefix_mask,
        }[mask]
    )


# ---------------------------------------------------------------------------------------------------------- the run
def task_names() -> dict[str, str]:
    return {"reverse": _("reverse"), "sort": _("sort by the alphabet"), "copy": _("copy")}


def train_one(text: str) -> None:
    from minibert.toy.seq2seq import Seq2SeqSettings, split_words

    manager().warm_up()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choice("task", _("Say the words …"), task_names())
        with st.container(width=190):
            blocks = pick("blocks", _("Blocks on each side"), ["1", "2"])
        if st.button(_("Train"), type="primary", icon=":material/play_arrow:", key="train"):
            begin(Seq2SeqSettings(task=task, layers=1 + blocks), text)
    show_refusal()
    from minibert.toy.seq2seq import CrossAttention, DecoderBlock

    show_source(DecoderBlock, "self.cross", label=_("The decoder's block: BERT's, with one step more"))
    show_source(
        CrossAttention, "memory", label=_("Cross-attention: BERT's attention, with keys and values from elsewhere")
    )
    words = split_words(text)
    if len(words) > LONGEST:
        st.info(
            _("Your sentence has {n} words. The model reads the first {most}.").format(n=len(words), most=LONGEST),
            icon=":material/content_cut:",
        )
    runs = own_runs(KIND)
    if not runs:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: in less than a minute it says your sentence."))
        return
    names = {run.id: run for run in runs}
    if st.session_state.get("run") not in names:
        st.session_state["run"] = runs[0].id
    if len(runs) > 1:
        st.selectbox(_("Run"), list(names), format_func=lambda i: run_title(names[i], runs), key="run")
    run = names[st.session_state["run"]]
    if not run.over and st.session_state.get("asked") != (run.id, text):
        st.session_state["asked"] = (run.id, text)
        run.send([text, *lesson.examples])
    live((run.id,), draw, lambda found: state_rows(found, speed))
    if run.state == "finished" and run.result.is_dir():
        lesson.show("What it looks at")
        say_it(run, words)


def run_title(run, runs: list) -> str:
    return _("{n}. {title}").format(n=len(runs) - runs.index(run), title=run.title)


def begin(settings, text: str) -> None:
    watch = [text[:MAX_CHARS], *lesson.examples]
    run = submit(
        "minibert.toy.seq2seq:train_seq2seq", settings, watch=watch, title=task_names()[settings.task], kind=KIND
    )
    if run is not None:
        st.session_state["run"], st.session_state["asked"] = run.id, (run.id, text)


def speed(step: dict) -> str:
    return _(" · {seconds:.0f} s · {speed:,.0f} tokens/s").format(
        seconds=step["seconds"], speed=step["tokens_per_second"]
    )


def draw(runs: list) -> None:
    for run in runs:
        draw_learning(run)


def draw_learning(run) -> None:
    """How it learns, and what it says so far."""
    measured, begun = run.latest("eval"), run.latest("started")
    if not measured:
        return
    from minibert.toy.seq2seq import SPECIALS
    from plots.encoder_decoder import Learning, learning

    events = run.events()
    metrics, settings = measured["metrics"], begun["settings"]
    reached = first_at(events, 0.99)
    words = sum(entry not in SPECIALS for entry in begun["details"]["words"])
    st.markdown(
        _(
            "{parameters:,} weights, {words} words. Of {n} sentences that it never trained on, **{right:.1%}** are "
            "right in every word."
        ).format(
            parameters=begun["details"]["parameters"], words=words, n=settings["held_out"],
            right=metrics["sequence_accuracy"],
        )
        + (_(" 99 % were reached after **{s:.0f} s** of training.").format(s=reached) if reached is not None else "")
    )  # fmt: skip
    titles = (_("Training loss"), _("Right, of the sentences held out"), _("step"))
    figure(
        learning(Learning.of(events), titles, (_("words"), _("whole sentences")), settings["steps"]),
        _(
            "Training loss, and the share of words and of whole sentences that are right. Now: {words:.1%}, {all:.1%}."
        ).format(words=metrics["token_accuracy"], all=metrics["sequence_accuracy"]),
        "ed-learning",
        data=lambda: [{_("step"): e["step"], **e["metrics"]} for e in events if e["event"] == "eval"],
    )
    if sample := run.latest("sample"):
        show_sample(sample)


def first_at(events: list[dict], share: float) -> float | None:
    """Seconds of training until a measurement first reached the share of whole sentences."""
    seconds = 0.0
    for event in events:
        if event["event"] == "step":
            seconds = event["seconds"]
        elif event["event"] == "eval" and event["metrics"]["sequence_accuracy"] >= share:
            return seconds
    return None


def show_sample(sample: dict) -> None:
    """What it makes of the user's sentence and the examples now."""
    rows = {" ".join(answer["source"]): answer for answer in sample["answers"]}  # an example may be the sentence
    st.table(
        pd.DataFrame(
            {
                _("it reads"): [literal(source) for source in rows],
                _("it says, after step {n}").format(n=sample["step"]): [
                    literal(" ".join(answer["answer"])) or "–" for answer in rows.values()
                ],
                "": ["✓" if answer["answer"] == answer["target"] else "✗" for answer in rows.values()],
            }
        ).set_index(_("it reads"))
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def trained(run_id: str, directory: str) -> "Trained":
    from minibert.toy.seq2seq import Trained

    return Trained.load(directory)


@st.fragment
def say_it(run, words: list[str]) -> None:
    """Greedy decoding, step by step."""
    from minibert.toy.seq2seq import UNK, greedy

    if not words:
        st.info(_("There is no word to read. Type a sentence above."), icon=":material/edit:")
        return
    model = trained(run.id, str(run.result))
    unknown = [word for word in words[:LONGEST] if word not in model.words.ids]
    if unknown:
        st.info(
            _(
                "Not among the words of this run: {words}. It reads {unk} there. Train again, and your words are "
                "learned too – or do as BERT does and cut words into pieces."
            ).format(words=literal(", ".join(unknown)), unk=literal(UNK)),
            icon=":material/help:",
        )
    decoding = model.decode(words)
    if model.task == "sort" and len(set(words)) < len(words):
        st.caption(_("A word comes twice here. Sorting was trained without that, and it shows: words may get lost."))
    said = decoding.said
    step = stepper("say", [literal(visible(word)) for word in said])
    layers, heads = decoding.attention("decoder.cross").shape[:2]
    left, right = st.columns(2, gap="large")
    with left:
        show_read(decoding, step)
    with right:
        show_next(model, decoding, step)
    names = [_("block {l}, head {h}").format(l=i // heads + 1, h=i % heads + 1) for i in range(layers * heads)]
    with st.container(width=300):
        layer, head = divmod(pick("head", _("Head"), names), heads)
    left, right = st.columns(2, gap="large")
    shown = [visible(word) for word in said]
    with left:
        st.markdown("#### " + _("Cross-attention: at your sentence"))
        attention_grid(decoding.attention("decoder.cross")[layer, head], shown, decoding.source, step, "ed-cross")
    with right:
        st.markdown("#### " + _("Self-attention: at its own words"))
        attention_grid(decoding.attention("decoder.attn")[layer, head], shown, decoding.target, step, "ed-self")
    show_source(greedy)


def show_read(decoding: "Decoding", step: int) -> None:
    show_words = [visible(word, spaces=False) for word in decoding.target]
    st.markdown(_("The encoder has read, once and for all:"))
    show_tokens(decoding.source, label=_("Source"))
    st.markdown(_("The decoder has read so far; the rest is yet to be said:"))
    kinds = ["kept" if i <= step else "faded" for i in range(len(show_words))]
    show_tokens(
        [word if i <= step else "?" for i, word in enumerate(show_words)],
        kinds=kinds,
        selected=step,
        label=_("Words the decoder has read"),
    )


def show_next(model: "Trained", decoding: "Decoding", step: int) -> None:
    from plots.encoder_decoder import next_words

    best = decoding.probs[step].topk(GUESSES)
    names = [visible(model.words.entries[i]) for i in best.indices.tolist()]
    probs = best.values.tolist()
    st.markdown(_("So the next word is:"))
    figure(
        next_words(names, probs),
        _("What comes next: {guesses}.").format(
            guesses=", ".join(f"{name} {p:.1%}" for name, p in zip(names, probs, strict=True))
        ),
        "ed-next",
        data=lambda: pd.DataFrame({_("word"): names, _("probability"): probs}),
    )


def attention_grid(probs: Any, rows: list[str], columns: list[str], step: int, key: str) -> None:
    """A row for each word said; what is still to be said is empty."""
    from plots.encoder_decoder import grid

    values = probs.clone()
    if key == "ed-self":
        future = values.new_ones(values.shape).triu(1).bool()
        values[future] = float("nan")
    columns = [visible(word) for word in columns]
    row = probs[step]
    figure(
        grid(values.numpy(), rows, columns, titles=(_("looks at"), _("to say")), selected=(step, None), least=0.05),
        _("To say {word} it looks at: {shares}.").format(
            word=rows[step], shares=", ".join(f"{c} {p:.0%}" for c, p in zip(columns, row.tolist(), strict=True))
        ),
        key,
        on_select=lambda: clicked(key, "say-step"),
        data=lambda: pd.DataFrame(values.numpy(), index=numbered(rows), columns=numbered(columns)),
    )


# ------------------------------------------------------------------------------------------------------- BERT writes
@st.cache_data(show_spinner=False, max_entries=200)
def written(model: str, version: int, start: tuple[int, ...], count: int, after: str) -> list:
    """The steps of minibert.inside.generation.write with what the reader wants to stand behind the blank."""
    from minibert.inside.generation import write

    loaded = load(model)
    stop = [loaded.tokenizer.ids["."]] if after == "stop" and "." in loaded.tokenizer.ids else []
    return list(write(loaded.model, loaded.tokenizer, start, count, stop, blanks=5 if after == "blanks" else 1))


@st.cache_data(show_spinner=False, max_entries=200)
def both_orders(model: str, version: int, ids: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """ln P of each token, in the order of the text: filled in from the left, and from the right."""
    from minibert.inside.generation import chain

    loaded = load(model)
    forward = list(range(1, len(ids) - 1))
    there, back = (chain(loaded.model, ids, order, loaded.tokenizer.mask_id) for order in (forward, forward[::-1]))
    return there, back[::-1]


@st.fragment
def can_it_write(text: str) -> None:
    from minibert.inside.generation import write

    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = model_choice(fill=True, usual=WELL_READ)
        names = {"nothing": _("nothing"), "stop": _("a full stop"), "blanks": _("four more blanks")}
        after = choice("after", _("Behind the blank stands"), names)
        count = st.slider(_("Words to write"), 1, 12, 8, key="write", bind="query-params", width=240)
    warn_untrained(model)
    loaded = load(model)
    vocab = loaded.tokenizer.vocab
    start = loaded.tokenizer.encode(text, max_length=MAX_TOKENS).ids[1:-1]
    while start and vocab[start[-1]] in ".!?…":
        start.pop()
    steps = written(model, version_of(model), tuple(start), count, after)
    new = [step.chosen for step in steps]
    show_tokens(
        [vocab[i] for i in [*start, *new]],
        kinds=["plain"] * len(start) + ["changed"] * len(new),
        label=_("Your words, and what BERT has put behind them"),
    )
    table = {
        _("it reads"): [visible(" ".join(vocab[i] for i in step.ids), spaces=False) for step in steps],
        _("its guesses for the first blank"): [
            ", ".join(f"{visible(vocab[i], spaces=False)} {p:.1%}" for i, p in step.guesses[:3]) for step in steps
        ],
    }
    with st.expander(_("Step by step"), icon=":material/format_list_numbered:"):
        st.dataframe(pd.DataFrame(table, index=range(1, len(steps) + 1)))
    show_source(write)
    lesson.show("Why it does not", level=3)
    ids = loaded.tokenizer.encode(text, max_length=MAX_TOKENS).ids
    if len(ids) < 4:
        st.info(_("Type at least two words above."), icon=":material/edit:")
    else:
        show_orders(model, ids)
        show_views(model, ids)
    side_by_side(text, len(ids) - 2)


def show_orders(model: str, ids: list[int]) -> None:
    from minibert.inside.generation import chain
    from plots.attention import compared_words, number

    loaded = load(model)
    lesson.show("No left-to-right probability", level=3)
    there, back = both_orders(model, version_of(model), tuple(ids))
    names = (_("from the left"), _("from the right"))
    tokens = [visible(loaded.tokenizer.vocab[i]) for i in ids[1:-1]]
    left, right = st.columns([3, 2], gap="large")
    with left:
        import numpy as np

        figure(
            compared_words(numbered(tokens), np.exp(there), np.exp(back), names, height=110 + 38 * len(tokens)),
            _("Probability of each token when they are filled in from the left and from the right: {words}.").format(
                words=", ".join(
                    f"{token} {np.exp(a):.1%}, {np.exp(b):.1%}" for token, a, b in zip(tokens, there, back, strict=True)
                )
            ),
            "ed-orders",
            data=lambda: pd.DataFrame({_("token"): tokens, names[0]: np.exp(there), names[1]: np.exp(back)}),
        )
    with right:
        st.metric(_("ln P, from the left"), number(sum(there)))
        st.metric(_("ln P, from the right"), number(sum(back)))
        st.markdown(
            _("The same sentence, and one “probability” is **e^{difference:.2f}** times the other.").format(
                difference=abs(sum(there) - sum(back))
            )
        )
    show_source(chain)


def share(p: float) -> str:
    return f"{p:.2%}" if p >= 0.0001 else "< 0.01%"


def show_views(model: str, ids: list[int]) -> None:
    from minibert.inside.generation import views
    from plots.encoder_decoder import next_words

    lesson.show("A word that sees itself", level=3)
    loaded = load(model)
    tokens = [visible(loaded.tokenizer.vocab[i]) for i in ids[1:-1]]
    letters = [i for i, token in enumerate(tokens) if any(map(str.isalnum, token))] or [0]
    with st.container(width=300):
        position = 1 + pick("word", _("Word"), numbered(tokens), default=letters[len(letters) // 2])
    seen = views(loaded.model, ids, position, loaded.tokenizer.mask_id)
    rows = {
        _("it stands there"): seen.shown,
        _("hidden, seen from both sides"): seen.both,
        _("hidden, and all that follows too"): seen.left,
        _("hidden, and the sentence ends there"): seen.cut,
    }
    told = _("How likely BERT finds {word}: {rows}.").format(
        word=tokens[position - 1], rows="; ".join(f"{name} {p:.1%}" for name, p in rows.items())
    )
    left, right = st.columns([1, 1], gap="large", vertical_alignment="center")
    with left:
        st.markdown("\n".join(f"{n}. {name}: **{share(p)}**" for n, (name, p) in enumerate(rows.items(), 1)))
    with right:
        figure(next_words([str(n) for n in range(1, 5)], list(rows.values())), told, "ed-views")


def side_by_side(text: str, tokens: int) -> None:
    """The three families in a table; what a sentence of so many tokens teaches each."""
    import torch

    from minibert.corruption import masking_budget

    asked = int(masking_budget(torch.tensor([tokens]), 0.15)[0])
    lesson.show("Side by side")
    some = _("{n} of {all} ({share:.0%})")
    full = some.format(n=tokens, all=tokens, share=1)
    rows = [
        (_("Input"), _("the whole text"), _("the text so far"), _("a source; the target so far")),
        (_("Mask"), _("none but padding"), _("causal"), _("none on the source, causal on the target")),
        (_("Is asked"), _("hidden tokens"), _("the next token, everywhere"), _("the next target token, everywhere")),
        (
            _("Tokens that teach, of yours"),
            some.format(n=asked, all=tokens, share=asked / tokens if tokens else 0),
            full,
            _("{full}, as the target").format(full=full),
        ),
        (_("Good for"), _("classifying, tagging, finding"), _("writing on"), _("translating, summarising")),
        (_("For instance"), _("BERT, RoBERTa"), _("GPT"), _("the Transformer of 2017, T5, BART")),
    ]
    head = ("", *mask_names().values())
    st.table(pd.DataFrame(rows, columns=head).set_index(""))
    lesson.show("What remains")


# ---------------------------------------------------------------------------------------------------------- the page
lesson.open()
lesson.show("The question")
text = sentence_input("sentence", lesson.examples, max_chars=MAX_CHARS)

# Only the open part is computed and drawn.
block, masks, training, writing = st.tabs(parts(), key="part", on_change="rerun", bind="query-params")
if block.open:
    with block:
        lesson.show("The block")
        the_block(text)
if masks.open:
    with masks:
        lesson.show("Who sees whom")
        three_masks(text)
        lesson.show("What the masks mean")
if training.open:
    with training:
        lesson.show("Train a whole Transformer")
        train_one(text)
if writing.open:
    with writing:
        lesson.show("Can BERT write?")
        can_it_write(text)
lesson.close()
