"""What else can be set: each further option of fine-tuning, and what it does to one sentence."""

import statistics

import streamlit as st

from ui.figures import figure
from ui.finetune_settings import rate_text
from ui.inputs import choice, seed_input, sentence_input
from ui.lesson import REVIEWS, Lesson
from ui.models import CHECKPOINTS, load
from ui.navigation import next_lesson
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

TASK = "classification"
START = CHECKPOINTS / "mini-en"
MASKS = 256  # dropout masks that are drawn
COLUMNS = ("topic", "kind")  # of the reviews, beside the text
MOST_TOKENS = 120
SHARES = {"1": 1.0, "0.5": 0.5, "0.25": 0.25, "0.1": 0.1}  # by their names in the link
RATES = (1e-4, 3e-4, 1e-3)
RUN = 96  # reviews of the short run: two epochs of 12 steps
LABELS = ("positive", "negative")

lesson = Lesson("training_options")


def option_names() -> dict[str, str]:
    return {
        "rates": _("layer rates and freezing"),
        "dropout": _("several dropout masks"),
        "mlm": _("a second loss"),
        "averaging": _("the mean of the weights"),
        "metadata": _("other columns"),
        "truncation": _("truncation"),
        "augmentation": _("augmentation"),
    }


def command(*options: str) -> None:
    """The same on the command line."""
    data = "--train lessons/data/reviews/train.tsv --dev lessons/data/reviews/dev.tsv"
    st.code(f"python -m minibert finetune {data} --out reviews {' '.join(options)}", "bash", wrap_lines=True)


@st.cache_data(show_spinner=False)
def training_data():
    from minibert.tasks import TASKS

    return TASKS[TASK].read(REVIEWS / "train.tsv")


def bench_of(**changes):
    """A learner of this session's own, as `finetune` would begin with these settings."""
    from minibert.finetune.option_effects import FreshLearner
    from minibert.finetune.settings import FinetuneSettings

    with st.spinner(_("Building the model …")):
        return FreshLearner.of(START, TASK, training_data(), FinetuneSettings(**changes))


def example_of(text: str, label: str, **extra: str):
    from minibert.tasks import Example

    return Example(text, label, extra)


def label_choice() -> str:
    return choice("label", _("Its label"), {"positive": _("positive"), "negative": _("negative")})


# --- layer rates ----------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=200)
def rates_of(decay: float, freeze: int | str, rate: float) -> list:
    from minibert.finetune.learning_rates import layer_rates
    from minibert.train import Optimization

    changes = {"layer_decay": decay, "freeze": freeze, "optimization": Optimization(learning_rate=rate)}
    bench = bench_of(**changes)
    from minibert.finetune.settings import FinetuneSettings

    return layer_rates(bench.learner, FinetuneSettings(**changes))


def show_rates(text: str) -> None:
    from plots.stability import layer_rates

    blocks = load("mini-en").config.num_hidden_layers
    freezes = {
        "none": _("nothing"),
        "embeddings": _("the embeddings"),
        **{str(n): ngettext("embeddings and {n} block", "embeddings and {n} blocks", n).format(n=n)
           for n in range(1, blocks + 1)},
        "all": _("all of BERT"),
    }  # fmt: skip
    left, right = st.columns(2, gap="medium")
    with left:
        decay = st.slider(_("Decay a layer"), 0.3, 1.0, 0.8, 0.05, key="decay", bind="query-params")
    with right:
        freeze = st.selectbox(_("Frozen"), list(freezes), format_func=freezes.get, key="freeze")
    frozen = int(freeze) if freeze.isdecimal() else freeze
    found = rates_of(decay, frozen, 3e-4)
    top = found[-1].depth
    names = [_("embeddings"), *(_("block {n}").format(n=n) for n in range(1, top)), _("pooler, new layer")]
    fig = layer_rates(names, [one.rate for one in found], _("frozen"), _("learning rate at its peak"))
    trained, whole = sum(one.weights for one in found if one.rate), sum(one.weights for one in found)
    words = "; ".join(
        f"{name}: {one.rate:.1e}" if one.rate else f"{name}: " + _("frozen")
        for name, one in zip(names, found, strict=True)
    )
    alt = _("Peak learning rate of each layer. {words}. {trained:,} of {whole:,} numbers are trained.").format(
        words=words, trained=trained, whole=whole
    )
    figure(fig, alt, key="rates")
    st.markdown(
        _("**{trained:,}** of {whole:,} numbers are trained.").format(trained=trained, whole=whole)
        if trained != whole
        else _("All **{whole:,}** numbers are trained.").format(whole=whole)
    )
    command(f"--layer-decay {decay:g}", f"--freeze {freeze}")
    from minibert.finetune.learner import frozen_parts
    from minibert.finetune.optimizer import finetuning_optimizer

    show_source(finetuning_optimizer, find="scale", label=_("How the rates come about"))
    show_source(frozen_parts, label=_("What is frozen"))


# --- several dropout masks ------------------------------------------------------------------------------------------


def show_dropout(text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        masks = st.slider(_("Masks a step"), 2, 16, 8, key="masks", bind="query-params")
        label = label_choice()
    with right:
        dropout = st.slider(_("Dropout"), 0.05, 0.5, 0.1, 0.05, key="dropout", bind="query-params")
    from minibert.finetune.option_effects import dropout_losses, means_of
    from plots.training_options import loss_spread

    losses = dropout_losses(bench_of(dropout=dropout), example_of(text, label), MASKS)
    means = means_of(losses, masks)
    groups = {_("1 mask"): losses, _("{n} masks").format(n=masks): means}
    one, several = statistics.stdev(losses), statistics.stdev(means)
    alt = _(
        "The loss of this sentence under {count} dropout masks scatters by {one:.4f} (standard deviation); means of "
        "{n} masks by {several:.4f}, {factor:.1f} times less. √{n} is {root:.1f}."
    ).format(count=MASKS, one=one, n=masks, several=several, factor=one / several if several else 1.0, root=masks**0.5)
    figure(loss_spread(groups, _("loss of the new layer, before its first step")), alt, key="losses")
    st.markdown(f"**{alt}**", width=820)
    command(f"--dropout {dropout:g}", f"--dropout-samples {masks}")
    from minibert.heads import TaskHead

    show_source(TaskHead.answers, find="dropout_samples", label=_("The masks"))
    show_source(TaskHead.answer, label=_("The mean of their losses"))


# --- a second loss --------------------------------------------------------------------------------------------------


def show_mlm(text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        weight = st.slider(_("Weight of the MLM loss"), 0.05, 1.0, 0.2, 0.05, key="weight", bind="query-params")
        label = label_choice()
    with right:
        seed = seed_input(0)
    from minibert.finetune.option_effects import loss_terms
    from plots.training_options import loss_sum

    found = loss_terms(bench_of(mlm_weight=weight), example_of(text, label), seed)
    under = [f"{found.asked[i]}?" if i in found.asked else "" for i in range(len(found.tokens))]
    st.markdown(_("The same sentence as the second loss reads it; below each place that is asked, the right token:"))
    show_tokens(found.tokens, under=under, limit=60, label=_("Masked tokens"))
    terms = {_("task"): found.task, _("{weight:g} · MLM").format(weight=weight): weight * found.mlm}
    alt = _("loss = task {task:.3f} + {weight:g} · MLM {mlm:.3f} = {loss:.3f}").format(
        task=found.task, weight=weight, mlm=found.mlm, loss=found.loss
    )
    figure(loss_sum(terms, _("loss, before the first step")), alt, key="terms")
    st.markdown(f"**{alt}**", width=820)
    command(f"--mlm-weight {weight:g}")
    from minibert.finetune.learner import Learner

    show_source(Learner.forward, find="mlm_loss", label=_("Both losses"))


# --- the mean of the weights ----------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=100)
def answers_of(text: str, rate: float) -> dict[float, list[float]]:
    """The probability of "positive" after each step of a short run, at 0 by its weights and by each mean of them."""
    from minibert.finetune.option_effects import FreshLearner, answers_on_the_way
    from minibert.finetune.settings import FinetuneSettings
    from minibert.finetune.split import spread
    from minibert.train import Optimization

    settings = FinetuneSettings(
        epochs=2, batch_size=8, max_length=32, optimization=Optimization(learning_rate=rate),
        dropout=0.0,  # its masks are drawn from a source that all visitors share
    )  # fmt: skip
    data = training_data()
    data = data.take(spread(len(data.examples), RUN))
    bench = FreshLearner.of(START, TASK, data, settings)
    return answers_on_the_way(bench, data, example_of(text, LABELS[0]), settings, list(SHARES.values()))


def show_averaging(text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        share = SHARES[choice("mean-of", _("Share"), {name: name for name in SHARES})]
    with right:
        rate = st.select_slider(_("Learning rate"), RATES, 1e-3, format_func=rate_text, key="rate")
    from minibert.finetune.option_effects import step_shares, unrest
    from plots import training_options as plots

    with st.spinner(_("Training on {n} reviews …").format(n=RUN)):
        answers = answers_of(text, rate)
    last, mean = answers[0], answers[share]
    shares = step_shares(share, len(last))
    half = next(n for n in range(1, len(shares) + 1) if sum(shares[-n:]) >= 0.5)
    names = (_("the weights as they are"), _("their mean"))
    alt = _(
        "After {steps} steps the weights as they are give “positive” {last:.3f}, their mean {mean:.3f}. From one step "
        "to the next the first moves by {unrest:.3f} on average, the second by {calm:.3f}."
    ).format(steps=len(last), last=last[-1], mean=mean[-1], unrest=unrest(last), calm=unrest(mean))
    counts = _("Half of what counts in the mean lies on the last {half} steps.").format(half=half)
    left, right = st.columns((5, 3), gap="medium")
    with left:
        fig = plots.two_answers(last, mean, names, (_("step"), _("probability of “positive”")))
        figure(fig, alt, key="answers")
    with right:
        figure(plots.step_shares(shares, (_("step"), _("counts in the mean"))), counts, key="shares")
    st.markdown(f"**{alt} {counts}**", width=820)
    command(f"--averaging {share:g}", f"--learning-rate {rate:g}")
    from minibert.training.averaging import running_mean

    show_source(running_mean, find="lerp", label=_("How the mean follows"))


# --- other columns --------------------------------------------------------------------------------------------------


def show_metadata(text: str) -> None:
    data = training_data()
    left, right = st.columns(2, gap="medium")
    with left:
        column = st.selectbox(_("Column"), COLUMNS, key="column")
        values = sorted({example.extra[column] for example in data.examples})
        value = st.selectbox(_("Value"), [*values, _("one that training has not seen")], key="value")
    with right:
        ways = {"token": _("a token in front"), "embedding": _("an embedding")}
        way = choice("way", _("Read as"), ways)
    bench = bench_of(metadata=(column,), metadata_as=way)
    known = value if value in values else "?"
    batch = bench.batch(example_of(text, LABELS[0], **{column: known}))
    tokens = [bench.tokenizer.vocab[i] for i in batch.ids[0].tolist()]
    show_tokens(tokens, under=batch.ids[0].tolist(), limit=60, label=_("Tokens"))
    head = bench.learner.model
    if way == "token":
        st.markdown(
            _(
                "The vocabulary has grown by {n} tokens, to {size:,}; each new one brings {width} numbers to the "
                "embedding matrix, random at first."
            ).format(n=len(values), size=bench.tokenizer.vocab_size, width=head.config.hidden_size),
            width=820,
        )
    else:
        number = int(batch.metadata[0, 0])
        st.markdown(
            _(
                "The tokens are the same for every value. This value is number **{number}** of a table of {rows} "
                "vectors of {width} numbers; that vector is added to what the new layer reads. Number 0 is for values "
                "that training has not seen."
            ).format(number=number, rows=head.metadata[0].num_embeddings, width=head.width),
            width=820,
        )
    command(f"--metadata {column}", f"--metadata-as {way}")
    from minibert.heads import TaskHead
    from minibert.tasks.metadata import metadata_prefix

    if way == "token":
        show_source(metadata_prefix, label=_("As tokens"))
    else:
        show_source(TaskHead.read, find="metadata", label=_("As embeddings"))


# --- truncation -----------------------------------------------------------------------------------------------------


def show_truncation(text: str) -> None:
    tokens = load("mini-en").tokenizer.encode(text, truncation="none").tokens[1:-1][:MOST_TOKENS]
    room = st.slider(_("Places for the text"), 2, 40, 7, key="room", bind="query-params")
    from minibert.text.truncation import keep

    ways = {
        "head": _("**head**: the first {n}"),
        "tail": _("**tail**: the last {n}"),
        "head_tail": _("**head + tail**: a quarter from the start, the rest from the end"),
        "longest_first": _("**longest first**: the longer text loses its end; with one text, the head"),
    }
    for way, words in ways.items():
        kept = set(keep([len(tokens)], room, way)[0])
        st.markdown(words.format(n=room))
        show_tokens(
            tokens, kinds=["plain" if i in kept else "faded" for i in range(len(tokens))], limit=MOST_TOKENS, label=way
        )
    if len(tokens) <= room:
        st.markdown(_("The text has {n} tokens and fits: nothing is cut.").format(n=len(tokens)))
    command(f"--max-length {room + 2}", "--truncation head_tail")
    show_source(keep, label=_("What stays"))


# --- augmentation ---------------------------------------------------------------------------------------------------


def show_augmentation(text: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        rate = st.slider(_("Share of the words"), 0.05, 0.5, 0.15, 0.05, key="share", bind="query-params")
    with right:
        seed = seed_input(0)
    from minibert.finetune.augmentation import METHODS, Augmentation, augmented, model_fill, words_of
    from minibert.tasks import TASKS

    loaded = load("mini-en")
    example, words = example_of(text, LABELS[0]), words_of(text)
    names = {
        "mask": _("**mask**: a word becomes [MASK]"),
        "replace": _("**replace**: by a word the model expects there"),
        "drop": _("**drop**: a word goes"),
        "swap": _("**swap**: two words change places"),
    }
    for method in METHODS:
        fill = model_fill(loaded.model, loaded.tokenizer) if method == "replace" else None
        copies = augmented(TASKS[TASK], [example], Augmentation(method, rate, 3), seed, fill)
        st.markdown(names[method])
        for copy in copies:
            new = words_of(copy.text)
            kinds = [
                "mask" if word == "[MASK]" else "plain" if i < len(words) and word == words[i] else "changed"
                for i, word in enumerate(new)
            ]
            if method == "drop":
                kinds = ["plain"] * len(new)
            show_tokens(new, kinds=kinds, limit=60, label=method)
    st.markdown(_("Each copy keeps the label of the sentence. Would you have given it the same?"))
    command("--augment replace", f"--augment-rate {rate:g}", "--augment-copies 3")
    from minibert.finetune.augmentation import changed_words

    show_source(changed_words, label=_("The four ways"))
    show_source(model_fill, find="topk", label=_("What the model puts in"))


# --- the page -------------------------------------------------------------------------------------------------------

SHOWN = {
    "rates": ("Layer rates", show_rates),
    "dropout": ("Several dropout masks", show_dropout),
    "mlm": ("A second loss", show_mlm),
    "averaging": ("Mean of the weights", show_averaging),
    "metadata": ("Other columns", show_metadata),
    "truncation": ("Truncation", show_truncation),
    "augmentation": ("Augmentation", show_augmentation),
}

lesson.show_title()
lesson.show("Choose an option")
chosen = choice("option", _("Option"), option_names(), wrap=True)
heading, draw = SHOWN[chosen]
lesson.show(heading)


@st.fragment
def shown() -> None:
    text = ""
    if chosen != "rates":
        text = sentence_input("text", lesson.examples, label=_("Your own sentence"), max_chars=2_000)
    if chosen != "rates" and not text.strip():
        st.markdown(_("Write a sentence first."))
        return
    draw(text)


shown()
lesson.quiz()
next_lesson("training_options")
