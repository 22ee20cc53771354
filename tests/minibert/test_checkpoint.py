"""Saving and loading: the ecosystem's layout both ways, whole or not at all, and never a pickle."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from minibert import checkpoint
from minibert.checkpoint import CheckpointError
from minibert.config import BertConfig
from minibert.heads import BertForSequenceClassification
from minibert.model import Batch, Bert, BertForPreTraining
from minibert.relatives import build, relative_named
from minibert.training.skip_init import skip_init

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=24,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=50,
    max_position_embeddings=32,
)
BATCH = Batch(torch.arange(5, 25).reshape(2, 10))
LABELS = ["no", "maybe", "yes"]
MODELS = {
    "BertModel": lambda: Bert(CONFIG),
    "BertForPreTraining": lambda: BertForPreTraining(CONFIG),
    "BertForSequenceClassification": lambda: BertForSequenceClassification(CONFIG, LABELS),
}
# What an output is called there, and where it is here.
OUTPUTS = {
    "last_hidden_state": lambda output: output[0],
    "pooler_output": lambda output: output[1],
    "prediction_logits": lambda output: output.mlm_logits,
    "seq_relationship_logits": lambda output: output.nsp_logits,
    "logits": lambda output: output.logits if hasattr(output, "logits") else output.mlm_logits,
}


@torch.no_grad()
def assert_same_outputs(ours, theirs):
    output = ours(BATCH)
    for name, expected in theirs.eval()(BATCH.ids).items():
        torch.testing.assert_close(OUTPUTS[name](output), expected, atol=1e-5, rtol=0)


def assert_same_weights(found, expected):
    for name, value in expected.state_dict().items():
        assert torch.equal(found.state_dict()[name], value), name


@pytest.fixture
def saved(tmp_path):
    return checkpoint.save(tmp_path / "model", BertForPreTraining(CONFIG))


@pytest.mark.parametrize("name", MODELS)
def test_what_was_saved_comes_back_also_in_transformers(name, tmp_path, letters):
    model = MODELS[name]().eval()
    directory = checkpoint.save(tmp_path / "model", model, letters)
    again = checkpoint.load(directory)
    assert type(again) is type(model) and again.config == CONFIG and not again.training
    assert_same_weights(again, model)
    theirs, report = getattr(transformers, name).from_pretrained(directory, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"] and not report["mismatched_keys"]
    assert_same_outputs(model, theirs)
    if name == "BertForSequenceClassification":
        assert again.labels == list(theirs.config.id2label.values()) == LABELS
    assert checkpoint.load_tokenizer(directory).vocab == letters.vocab
    their_tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    assert their_tokenizer("abc, def!")["input_ids"] == letters.encode("abc, def!").ids


@pytest.mark.parametrize("name", [*MODELS, "BertForMaskedLM"])
def test_we_load_what_transformers_saves(name, tmp_path):
    theirs = getattr(transformers, name)(transformers.BertConfig(**CONFIG.as_dict(), num_labels=3))
    theirs.save_pretrained(tmp_path)
    assert_same_outputs(checkpoint.load(tmp_path), theirs)


def test_a_pre_trained_encoder_becomes_a_classifier(tmp_path):
    """With the fresh head that the seed gives: building the outline of the encoder draws no random numbers."""
    pretrained = BertForPreTraining(CONFIG)
    directory = checkpoint.save(tmp_path / "model", pretrained)
    torch.manual_seed(3)
    model = checkpoint.load(directory, kind=BertForSequenceClassification, labels=["a", "b"], pooling="mean")
    assert model.labels == ["a", "b"] and model.options.pooling == "mean"
    assert_same_weights(model.bert, pretrained.bert)
    torch.manual_seed(3)
    with skip_init():
        built = BertForSequenceClassification(CONFIG, ["a", "b"], pooling="mean")
    assert torch.equal(model.classifier.weight, built.classifier.weight)


def test_half_precision_is_half_the_size_and_loads_as_float32(saved, tmp_path):
    model = checkpoint.load(saved)
    half = checkpoint.save(tmp_path / "half", model, dtype=torch.float16)
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (half, saved)]
    assert sizes[0] < 0.55 * sizes[1]
    again = checkpoint.load(half)
    assert {p.dtype for p in again.parameters()} == {torch.float32}
    with torch.no_grad():
        torch.testing.assert_close(again(BATCH).mlm_logits, model(BATCH).mlm_logits, atol=1e-3, rtol=1e-2)


def test_saving_is_all_or_nothing(saved, tmp_path, monkeypatch):
    (saved / "notes.md").write_text("mine")
    before = {file.name: file.read_bytes() for file in saved.iterdir()}

    def break_down(state, path, **options):
        path.write_bytes(b"half a fi")
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint, "save_file", break_down)
    for goal in (saved, tmp_path / "new"):
        with pytest.raises(OSError, match="disk full"):
            checkpoint.save(goal, BertForPreTraining(CONFIG))
    assert {file.name: file.read_bytes() for file in saved.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def changed(directory, **changes):
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, **changes}))


def rewritten(directory, change):
    state = load_file(directory / "model.safetensors")
    save_file(change(state), directory / "model.safetensors", metadata={"format": "pt"})
    return directory


def with_a_nan(state):
    """In one weight of many."""
    state["bert.encoder.layer.1.output.LayerNorm.weight"][3] = float("nan")
    return state


CLASSIFIER, ANSWERING = ["BertForSequenceClassification"], ["BertForQuestionAnswering"]


def test_a_config_that_is_wrong_says_where(saved):
    config = json.loads((saved / "config.json").read_text())
    for changes, message in (
        ({"hidden_size": 48}, "has shape .* where config.json asks for"),
        ({"num_hidden_layers": 3}, r"lacks bert.encoder.layer.2"),
        ({"num_hidden_layers": 1}, r"holds bert.encoder.layer.1.* which is no part of this model"),
        ({"model_type": "gpt2"}, 'model_type is "gpt2"'),
        ({"position_embedding_type": "relative_key"}, "relative_key"),
        ({"architectures": ["BertForQuantumGravity"]}, "BertForQuantumGravity is not one of"),
        ({"architectures": 5}, r"architectures must be a list \(each a text\), not 5"),
        ({"id2label": -1}, "id2label must be an object .* not -1"),
        ({"architectures": CLASSIFIER, "id2label": {"a": "b"}}, "keys of id2label"),
        ({"id2label": {str(i): "a" for i in range(70_000)}}, "70,000 labels; at most 65,536 are read"),
        ({"minibert_options": []}, "minibert_options must be an object, not "),
        ({"classifier_metadata": -1}, "classifier_metadata must be a list"),
        ({"architectures": ANSWERING, "id2label": {"0": "a"}, "classifier_metadata": [10**9]}, "to 65,536 values"),
        ({"model_type": []}, r"model_type must be a text"),
        ({"hidden_act": ["gelu"]}, "hidden_act must be a text"),
        ({"vocab_size": 10**12}, "vocab_size is 1000000000000; at most"),
        ({"vocab_size": 10**400}, "vocab_size is 10*…; at most"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers is 1000000; at most 1,000"),
        ({"hidden_size": 3 * 2**20}, "has shape .* where config.json asks for .*3145728"),  # 400 TB
        ({"layer_norm_eps": -1e-12}, "layer_norm_eps must be a number above 0, not -1e-12"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps must be a number, not NaN"),
        ({"initializer_range": -1}, "initializer_range must be a number of at least 0"),
    ):
        (saved / "config.json").write_text(json.dumps({**config, **changes}))
        with pytest.raises(CheckpointError, match=message):
            checkpoint.load(saved)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: (d / "config.json").write_text("[]"), r"config.json: not a JSON object"),
        (lambda d: (d / "config.json").unlink(), "has no config.json"),
        (lambda d: (d / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda d: (d / "model.safetensors").write_bytes(b"\x00" * 40), "damaged or not a safetensors file"),
        (lambda d: rewritten(d, with_a_nan), r"LayerNorm.weight holds what is no finite number"),
        (
            lambda d: (d / "model.safetensors").rename(d / "pytorch_model.bin"),
            r"pytorch_model.bin is a pickled checkpoint.*can run any code",
        ),
        (lambda d: d.rename(d.with_name("elsewhere")), "is not a directory"),
    ],
)
def test_a_file_that_is_wrong_is_named(saved, spoil, message):
    spoil(saved)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(saved)


def test_albert_and_nezha_allocate_nothing_that_no_file_holds(tmp_path):
    """One block stands for all layers in ALBERT's file, and none holds NEZHA's sinusoids."""
    sizes = {"vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
    for kind, wrong in [("albert", "num_hidden_layers"), ("nezha", "max_relative_position")]:
        config = relative_named(kind).config.from_dict({"model_type": kind, **sizes})
        directory = checkpoint.save(tmp_path / kind, build(config, BertForPreTraining))
        checkpoint.load(directory)
        changed(directory, **{wrong: 10**9})
        with pytest.raises(CheckpointError, match=f"{wrong} "):
            checkpoint.load(directory)


def test_where_nothing_can_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "model.safetensors").mkdir(parents=True)
    for goal, why in [
        (tmp_path / "file", "Not a directory"),
        (tmp_path / "file" / "model", "Not a directory"),
        (tmp_path / "file" / "deeper" / "model", "Not a directory"),
        (tmp_path / "taken", "model.safetensors in it is a directory"),
        (tmp_path / ("a" * 300), "File name too long"),
        (Path("/proc/nowhere/model"), "cannot be written"),
    ]:
        with pytest.raises(CheckpointError, match=f"cannot be written: .*{why}|{why}"):
            checkpoint.make_ready(goal)
    checkpoint.make_ready(tmp_path / "new" / "model")
    checkpoint.make_ready(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


def test_what_a_killed_save_has_left_goes_and_nothing_else(tmp_path):
    for name in ("model", "model-2"):
        with pytest.raises(KeyboardInterrupt), checkpoint.writing(tmp_path / name) as left:
            raise KeyboardInterrupt
        left.mkdir()  # as SIGKILL would have left it
        (left / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".model-notes").write_text("mine")
    checkpoint.make_ready(tmp_path / "model")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert len(left) == 2 and left[0].startswith(".model-2-") and left[1] == ".model-notes"


def test_tied_decoder_stays_tied_after_loading(saved):
    assert "cls.predictions.decoder.weight" not in load_file(saved / "model.safetensors")
    again = checkpoint.load(saved)
    assert again.mlm.decoder.weight is again.bert.embeddings.token.weight
    same = again.bert.embeddings.token.weight.detach().clone()
    checkpoint.load(rewritten(saved, lambda state: {**state, "cls.predictions.decoder.weight": same}))
    rewritten(saved, lambda state: {**state, "cls.predictions.decoder.weight": same + 1})
    with pytest.raises(CheckpointError, match=r"differs from bert.embeddings.word_embeddings.weight"):
        checkpoint.load(saved)


def test_layernorms_under_their_old_names_load_beside_position_ids(tmp_path):
    """As in the released bert-base-uncased, which transformers renames too."""
    model = BertForPreTraining(CONFIG)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.normal_()

    def aged(state):
        for new, old in (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")):
            state = {key.replace(new, old): value for key, value in state.items()}
        return {**state, "bert.embeddings.position_ids": torch.arange(32)[None]}

    directory = rewritten(checkpoint.save(tmp_path / "model", model), aged)
    assert any(key.endswith("gamma") for key in load_file(directory / "model.safetensors"))
    ours = checkpoint.load(directory)
    assert_same_outputs(ours, transformers.BertForPreTraining.from_pretrained(directory))
    assert_same_weights(ours, model)


def test_without_architectures_the_weights_say_what_it_is(tmp_path):
    for kind in (BertForPreTraining, Bert):
        directory = checkpoint.save(tmp_path / kind.__name__, kind(CONFIG))
        changed(directory, architectures=None)
        assert type(checkpoint.load(directory)) is kind


def test_a_tokenizer_as_transformers_saves_it_today(tmp_path, letters):
    directory = checkpoint.save(tmp_path / "model", Bert(CONFIG), letters)
    (directory / "vocab.txt").unlink()
    assert checkpoint.load_tokenizer(directory).vocab == letters.vocab
    (directory / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no vocab.txt"):
        checkpoint.load_tokenizer(directory)


def test_rows_without_a_token_have_a_name(tmp_path, letters):
    """Some round their vocabulary up to a multiple of 8: such a row can come first in an answer."""
    model = BertForPreTraining(dataclasses.replace(CONFIG, vocab_size=64))
    directory = checkpoint.save(tmp_path / "model", model, letters)
    padded = checkpoint.load_tokenizer(directory)
    assert padded.vocab_size == 64 and padded.vocab[:61] == letters.vocab
    assert padded.decode([5, 63]) == "a [row 63]"
    assert padded.encode("a [row 63]").ids == letters.encode("a [row 63]").ids  # never read
    padded.save(tmp_path / "again")
    assert (tmp_path / "again" / "vocab.txt").read_bytes() == (directory / "vocab.txt").read_bytes()
