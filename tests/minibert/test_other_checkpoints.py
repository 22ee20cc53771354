"""Models as transformers saves them, head by head: logits and labels are equal, or what is missing is named."""

import json
import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from minibert import checkpoint
from minibert.__main__ import main
from minibert.checkpoint import CheckpointError
from minibert.finetune.predictor import Predictor
from minibert.heads import TaskBatch
from minibert.model import Batch, Bert, BertForPreTraining
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.tasks.tagging import entities
from ui.model_registry import ModelInfo

SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 50}
IDS = torch.arange(5, 25).reshape(2, 10)
TEXT = "The cat [MASK]"
# name → (class, settings): what transformers saves
MODELS = {
    **{
        name: (name, {})
        for name in (
            "BertModel",
            "BertForMaskedLM",
            "BertForPreTraining",
            "BertForSequenceClassification",
            "BertForTokenClassification",
            "BertForQuestionAnswering",
            "BertForMultipleChoice",
        )
    },
    "relu": ("BertForMaskedLM", {"hidden_act": "relu"}),
    "gelu_new": ("BertForPreTraining", {"hidden_act": "gelu_new"}),
    "three labels": ("BertForSequenceClassification", {"num_labels": 3}),
    "a number": ("BertForSequenceClassification", {"num_labels": 1}),
    "named labels": ("BertForTokenClassification", {"id2label": {0: "DET", 1: "NOUN", 2: "VERB"}}),
    "several labels": ("BertForSequenceClassification", {"problem_type": "multi_label_classification"}),
    "one segment": ("BertForMaskedLM", {"type_vocab_size": 1}),
    "RoBERTa, relu": ("RobertaForMaskedLM", {"hidden_act": "relu", "pad_token_id": 1}),
    "RoBERTa, tags": ("RobertaForTokenClassification", {"num_labels": 3, "pad_token_id": 1}),
    "ELECTRA generator, relu": ("ElectraForMaskedLM", {"hidden_act": "relu", "embedding_size": 12}),
    "ELECTRA, relu": ("ElectraForPreTraining", {"hidden_act": "relu", "embedding_size": 12}),
    "DistilBERT, relu": ("DistilBertForMaskedLM", {"activation": "relu"}),
    "ALBERT": ("AlbertForMaskedLM", {"embedding_size": 12}),
}
OUTPUTS = {"prediction_logits": "mlm_logits", "seq_relationship_logits": "nsp_logits"}


def saved(folder, name, letters=None, **settings):
    torch.manual_seed(0)
    cls = getattr(transformers, name)
    model = cls(cls.config_class(**SIZES, initializer_range=0.2, **settings)).eval()
    model.save_pretrained(folder)
    if letters is not None:
        letters.save(folder)
    return model


@torch.no_grad()
def outputs(theirs):
    """transformers' logits by our names of outputs, or the encoder's hidden states."""
    ids = IDS[:, None].repeat(1, 3, 1) if isinstance(theirs, transformers.BertForMultipleChoice) else IDS
    output = theirs(ids)
    if "start_logits" in output:
        return {"logits": torch.stack([output.start_logits, output.end_logits], -1)}
    return {OUTPUTS.get(key, key): value for key, value in output.items() if key != "pooler_output"}


@pytest.mark.parametrize("name", MODELS)
def test_logits_and_labels_are_those_of_transformers(name, tmp_path):
    cls, settings = MODELS[name]
    theirs = saved(tmp_path, cls, **settings)
    ours = checkpoint.load(tmp_path)
    ids = IDS[:, None].repeat(1, 3, 1) if "Choice" in cls else IDS
    with torch.no_grad():
        output = ours(TaskBatch(ids))
    for key, expected in outputs(theirs).items():
        if key == "last_hidden_state":
            found = output[0]
        else:
            found = getattr(output, key, None) if hasattr(output, key) else output.mlm_logits
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    if "Classification" in cls:
        assert ours.labels == list(theirs.config.id2label.values())
    if "Electra" not in cls:
        encoder = checkpoint.load(tmp_path, kind=Bert)
        with torch.no_grad():
            expected = theirs.base_model(IDS)[0]
            torch.testing.assert_close(encoder(Batch(IDS))[0], expected, atol=1e-5, rtol=0)


BESIDE = ["BertForNextSentencePrediction", "BertLMHeadModel", "custom", "none", "leftover", "module."]


@pytest.mark.parametrize("name", BESIDE)
def test_an_encoder_is_read_whatever_stands_beside_it(name, tmp_path):
    theirs = saved(tmp_path, name if name.startswith("Bert") else "BertModel")
    config = json.loads((tmp_path / "config.json").read_text())
    weights = load_file(tmp_path / "model.safetensors")
    if name == "custom":
        config["architectures"] = ["MyReranker"]
        weights |= {"scorer.weight": torch.ones(1, 24)}
    elif name == "none":
        del config["architectures"]
    elif name == "leftover":
        weights |= {"cls.predictions.bias": torch.ones(61), "bert.scale": torch.ones(1)}
    elif name == "module.":
        weights = {f"module.encoder_q.{key}": value for key, value in weights.items()}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file(weights, tmp_path / "model.safetensors")
    with torch.no_grad():
        expected = theirs.base_model(IDS)[0]
        torch.testing.assert_close(checkpoint.load(tmp_path, kind=Bert)(Batch(IDS))[0], expected, atol=1e-5, rtol=0)
    if name in ("custom", "BertLMHeadModel"):
        with pytest.raises(CheckpointError, match=config["architectures"][0]):
            checkpoint.load(tmp_path)


def test_weights_in_parts_are_read_and_a_missing_part_is_named(tmp_path):
    theirs = saved(tmp_path / "whole", "BertForPreTraining")
    theirs.save_pretrained(tmp_path / "parts", max_shard_size="10KB")
    names = sorted(path.name for path in (tmp_path / "parts").glob("model-*.safetensors"))
    assert len(names) > 2 and not (tmp_path / "parts" / "model.safetensors").exists()
    one, other = (checkpoint.load(tmp_path / folder).state_dict() for folder in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    (tmp_path / "parts" / names[1]).unlink()
    with pytest.raises(CheckpointError, match=names[1]):
        checkpoint.load(tmp_path / "parts")
    for index in ("{}", '{"weight_map": {"a": "../x.safetensors"}}', "["):
        (tmp_path / "parts" / "model.safetensors.index.json").write_text(index)
        with pytest.raises(CheckpointError, match=r"index\.json"):
            checkpoint.load(tmp_path / "parts")


def test_heads_that_are_not_there_are_not_invented(tmp_path, letters, capsys):
    """Each kind of file, and what the commands say of it."""
    heads = {
        "BertModel": "",
        "BertForTokenClassification": "",
        "BertForMaskedLM": "mlm",
        "BertForPreTraining": "mlm nsp",
    }
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join("a b c d\ne f g h\ni j k" for _ in range(4)))
    for name, there in heads.items():
        folder = tmp_path / name
        saved(folder, name, letters)
        fill = [main(["fill", TEXT, "--model", str(folder)]) for _ in range(2)]
        out, err = capsys.readouterr()
        measured = main(["evaluate", "--model", str(folder), "--data", str(text), "--json"])
        metrics = capsys.readouterr()
        if not there:
            assert fill == [2, 2] and measured == 2 and not out and "no masked-LM head" in err
            with pytest.raises(CheckpointError, match="no masked-LM head"):
                checkpoint.load(folder, kind=BertForPreTraining)
            continue
        assert fill == [0, 0] and len(set(out.splitlines())) == 1 and measured == 0
        assert ("nsp_accuracy" in json.loads(metrics.out)) == ("nsp" in there)
        assert isinstance(checkpoint.load(folder), MaskedLm) == ("nsp" not in there)
        assert ModelInfo("", "", folder).can_judge == ("nsp" in there)
    new = checkpoint.load(tmp_path / "BertModel", kind=BertForPreTraining, new_heads=True)  # to go on training
    assert new.nsp.weight.any() and new.mlm.dense.weight.any()


def test_a_config_that_promises_more_than_the_file_holds_is_refused(tmp_path, letters):
    for name, lost in (
        ("BertForPreTraining", "cls.predictions"),
        ("BertForSequenceClassification", "classifier"),
        ("BertForSequenceClassification", "bert.pooler"),
    ):
        saved(tmp_path, name)
        weights = load_file(tmp_path / "model.safetensors")
        save_file({k: v for k, v in weights.items() if not k.startswith(lost)}, tmp_path / "model.safetensors")
        with pytest.raises(CheckpointError, match=f"{lost}|masked-LM head"):
            checkpoint.load(tmp_path)
    saved(tmp_path, "BertForPreTraining")
    weights = load_file(tmp_path / "model.safetensors")
    weights = {k: v for k, v in weights.items() if "seq_relationship" not in k}
    save_file(weights, tmp_path / "model.safetensors")
    assert isinstance(checkpoint.load(tmp_path), MaskedLm) and not ModelInfo("", "", tmp_path).can_judge


def test_the_weights_say_which_pre_training_heads_there_are(tmp_path):
    """bert-base-uncased is a BertForMaskedLM by its config, and has both heads."""
    saved(tmp_path, "BertForPreTraining")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["BertForMaskedLM"]}))
    assert type(checkpoint.load(tmp_path)) is BertForPreTraining
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": None}))
    assert type(checkpoint.load(tmp_path)) is BertForPreTraining


def test_a_masked_lm_comes_back_as_one(tmp_path):
    saved(tmp_path / "theirs", "BertForMaskedLM")
    model = checkpoint.load(tmp_path / "theirs")
    checkpoint.save(tmp_path / "ours", model)
    assert json.loads((tmp_path / "ours" / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]
    theirs = transformers.BertForMaskedLM.from_pretrained(tmp_path / "ours").eval()
    with torch.no_grad():
        torch.testing.assert_close(checkpoint.load(tmp_path / "ours")(Batch(IDS)).mlm_logits, theirs(IDS).logits)


def test_tags_without_a_prefix_are_whole_types(tmp_path, letters):
    assert entities(["NOUN", "VERB"]) == [(0, 1, "NOUN"), (1, 2, "VERB")]
    assert entities(["NOUN", "NOUN", "O", "NOUN"]) == [(0, 2, "NOUN"), (3, 4, "NOUN")]
    assert entities(["LABEL_2", "LABEL_2", "LABEL_0"]) == [(0, 2, "LABEL_2"), (2, 3, "LABEL_0")]
    assert entities(["B-PER", "I-PER", "B-PER", "O"]) == [(0, 2, "PER"), (2, 3, "PER")]
    for settings in ({"id2label": {0: "O", 1: "NOUN", 2: "proper noun"}}, {"num_labels": 3}):
        theirs = saved(tmp_path, "BertForTokenClassification", letters, **settings)
        text = "a b c d e f"
        (answer,) = Predictor.from_directory(tmp_path).predict([text])
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
        pipe = transformers.pipeline("ner", theirs, tokenizer=tokenizer, aggregation_strategy="simple", device="cpu")
        expected = [(one["entity_group"], one["start"], one["end"]) for one in pipe(text)]
        assert [(one["type"], *one["offsets"]) for one in answer["entities"]] == expected


def test_a_token_that_was_added_is_read_and_exported(tmp_path, letters, capsys):
    tokenizer_folder, folder, out = tmp_path / "tokenizer", tmp_path / "model", tmp_path / "out"
    letters.save(tokenizer_folder)
    (tokenizer_folder / "config.json").write_text('{"model_type": "bert"}')
    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder)
    theirs = saved(folder, "BertForSequenceClassification", num_labels=3)
    tokenizer.add_tokens(["covid19"])
    theirs.resize_token_embeddings(len(tokenizer))
    theirs.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (answer,) = Predictor.from_directory(folder).predict(["the covid19 film"])
    with torch.no_grad():
        expected = theirs(**tokenizer("the covid19 film", return_tensors="pt")).logits.softmax(-1)[0].tolist()
    assert list(answer["probabilities"].values()) == pytest.approx(expected, abs=1e-5)
    assert main(["tokenize", "the covid19 film", "--model", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"][-6:-5] == ["covid19"]
    assert main(["export", "--model", str(folder), "--out", str(out)]) == 0
    assert len(transformers.AutoTokenizer.from_pretrained(out)) == len(tokenizer) == letters.vocab_size + 1


FOREIGN = {
    "pytorch_model-00001-of-00002.bin": "pickled",
    "tf_model.h5": "Keras",
    "bert_model.ckpt.index": "TensorFlow",
    "weights.safetensors": "weights.safetensors",
    "flax_model.msgpack": "Flax",
}


@pytest.mark.parametrize("file", FOREIGN)
def test_a_sentence_says_what_is_there_instead(file, tmp_path):
    saved(tmp_path, "BertModel")
    (tmp_path / "model.safetensors").rename(tmp_path / file)
    with pytest.raises(CheckpointError, match=FOREIGN[file]) as said:
        checkpoint.load(tmp_path)
    assert "not a saved model" not in str(said.value)


def test_googles_release_and_a_pointer_are_called_what_they_are(tmp_path):
    saved(tmp_path / "model", "BertModel")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (tmp_path / "model" / "model.safetensors").write_text(pointer)
    with pytest.raises(CheckpointError, match="Git LFS pointer"):
        checkpoint.load(tmp_path / "model")
    google = tmp_path / "google"
    google.mkdir()
    shutil.copy(tmp_path / "model" / "config.json", google / "bert_config.json")
    (google / "bert_model.ckpt.index").write_bytes(b"")
    with pytest.raises(CheckpointError, match="Google's TensorFlow release"):
        checkpoint.load(google)
