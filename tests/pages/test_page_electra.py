"""The ELECTRA page: what it draws is what both networks computed."""

import re
import shutil

import pytest

from minibert import checkpoint
from minibert.inside.relatives.replaced import places_to_hide, replaced, tally
from minibert.toy import world
from sections.electra.generator import SEED, STORIES
from sections.electra.subject import TEMPERATURES
from tests.pages.driver import ROOT, figure, html_of, open_page, plain, text_of, whole

PAIR = ROOT / "checkpoints" / "electra-toy" / "pair"
TEXT = "felix was an eager boy. felix lost the scarf."


@pytest.fixture(scope="module")
def networks():
    return checkpoint.load(PAIR), checkpoint.load(PAIR / "generator"), checkpoint.load_tokenizer(PAIR)


def drawn(networks, text: str, rate: float, temperature: float, seed: int):
    discriminator, generator, tokenizer = networks
    encoding = tokenizer.encode(text)
    places = places_to_hide(encoding.special, rate, seed)
    return encoding, replaced(
        generator, discriminator, encoding.ids, places, tokenizer.mask_id, temperature=temperature, seed=seed
    )


def columns(app) -> list[dict]:
    """The columns of the picture: what stood there, what is read, P(replaced), the verdict."""
    found = re.findall(
        r'<li( class="hid")?><span class="was"><bdi>(.*?)</bdi></span><span class="read"><bdi>(.*?)</bdi>.*?'
        r'--p:([\d.]+)".*?<b>(.*?)</b>',
        html_of(app),
    )
    return [{"hidden": bool(hid), "was": was, "read": read, "p": float(p), "said": s} for hid, was, read, p, s in found]


@pytest.mark.parametrize(("temperature", "seed", "rate"), [(1.0, 1, 25), (0.0, 4, 50), (4.0, 9, 15)])
def test_the_picture_is_what_both_networks_computed(runs_folder, networks, temperature, seed, rate):
    app = open_page("electra", owner="me", text=TEXT, temperature=f"{temperature:g}", seed=seed, rate=rate)
    encoding, one = drawn(networks, TEXT, rate / 100, temperature, seed)
    vocab, shown = networks[2].vocab, columns(app)
    inside = range(1, len(encoding.ids) - 1)
    assert [column["was"] for column in shown] == [vocab[one.original[i]] for i in inside]
    assert [column["read"] for column in shown] == [vocab[one.read[i]] for i in inside]
    assert [column["hidden"] for column in shown] == [one.hidden[i] for i in inside]
    for column, i in zip(shown, inside, strict=True):
        assert column["p"] == pytest.approx(one.suspicion[i], abs=6e-4)
        suspected, changed = one.suspicion[i] > 0.5, one.read[i] != one.original[i]
        sign = "✓" if changed and suspected else "✗" if changed != suspected else "=" if one.hidden[i] else ""
        assert column["said"][:1] == sign
    changed = [i for i in inside if one.replaced[i]]
    counts = [str(len(changed)), str(sum(one.suspicion[i] > 0.5 for i in changed))]
    told = re.findall(r"\d+", next(line for line in text_of(app).splitlines() if re.search(r"\d", line)))
    assert counts in [told[n : n + 2] for n in range(len(told))]
    app = whole(app.button(key="draw").click().run())
    assert app.query_params["seed"] in (str(seed + 1), [str(seed + 1)])
    assert temperature == 0 or columns(app) != shown


def test_checkpoints_of_ones_own_are_drawn_and_a_lonely_one_is_named(runs_folder, networks, tmp_path, monkeypatch):
    for name in ("my-discriminator", "lonely"):
        shutil.copytree(PAIR, tmp_path / name, ignore=shutil.ignore_patterns("generator"))
    monkeypatch.setenv("MINIBERT_MODELS", str(tmp_path))
    told = plain(" ".join(caption.value for caption in open_page("electra", owner="me", text=TEXT).caption))
    assert "my-discriminator" in told and "lonely" in told  # without a generator
    shutil.copytree(PAIR / "generator", tmp_path / "my-generator")
    app = open_page("electra", owner="me", pair="my-discriminator", text=TEXT, seed=1, rate=25, temperature="1")
    _encoding, one = drawn(networks, TEXT, 0.25, 1.0, 1)
    assert [column["p"] for column in columns(app)] == pytest.approx(one.suspicion[1:-1], abs=6e-4)
    app = open_page("electra", owner="me", pair="my-discriminator", part="The generator’s size")
    assert app.info and not app.get("plotly_chart")  # its stories are the toy world's


def test_the_generators_figure_counts_what_it_says(runs_folder, networks):
    discriminator, generator, tokenizer = networks
    app = open_page("electra", owner="me", part="The generator’s size", temperature="2", rate=25)
    lines = {line["name"]: line["y"] for line in figure(app, "temperatures")["data"]}
    texts = [story.text for story in world.stories(STORIES, SEED, "small")]
    for place, temperature in ((0, TEMPERATURES[0]), (5, 2.0)):
        shares = tally(generator, discriminator, tokenizer, texts, temperature=temperature, rate=0.25).shares()
        assert lines["samples that are right"][place] == pytest.approx(shares["right"])
        assert lines["replaced tokens found"][place] == pytest.approx(shares["found"])
        assert lines["original tokens suspected"][place] == pytest.approx(shares["suspected"])
    assert lines["samples that are right"][0] > lines["samples that are right"][-1]  # hot samples are seldom right


def test_a_tally_by_hand(networks):
    discriminator, generator, tokenizer = networks
    text = "felix was an eager boy. he searched alone."
    encoding = tokenizer.encode(text)
    places = places_to_hide(encoding.special, 0.4, 3)
    one = replaced(generator, discriminator, encoding.ids, places, tokenizer.mask_id, temperature=1.0, seed=3)
    counted = tally(generator, discriminator, tokenizer, [text], temperature=1.0, rate=0.4, seed=3)
    right = sum(one.read[i] == one.original[i] for i in places)
    assert (counted.hidden, counted.right, counted.replaced) == (len(places), right, len(places) - right)
    assert counted.original == len(encoding.ids) - 2 - counted.replaced
    assert counted.found == sum(one.suspicion[i] > 0.5 for i in places if one.replaced[i])
