"""The logit lens: its last layer is the model's own answer, its others the head on transformers' hidden states."""

import pytest
import torch
import transformers

from minibert.inside.predictions.cloze import expectations, rank
from minibert.inside.probes.logit_lens import blank_of, layer_answers, layer_log_probs, only_token, ranks_over_layers


def test_every_layer_is_the_head_on_that_layer_and_the_right_word_has_its_rank(small_checkpoint, loaded):
    model, tokenizer = loaded
    ids, position = blank_of(tokenizer, "a b [MASK] d", 64)
    ours = layer_log_probs(model, ids, position)
    torch.testing.assert_close(ours[-1], expectations(model, ids, [position])[0], atol=1e-6, rtol=0)
    reference = transformers.BertForPreTraining.from_pretrained(small_checkpoint).eval()
    with torch.no_grad():
        hidden = reference.bert(torch.tensor([ids]), output_hidden_states=True).hidden_states
        for layer, x in enumerate(hidden):
            theirs = reference.cls.predictions(x)[0, position].double().log_softmax(-1)
            torch.testing.assert_close(ours[layer], theirs, atol=1e-4, rtol=0)

    wanted = only_token(tokenizer, "c")
    for row, answer in zip(ours, layer_answers(model, tokenizer, ids, position, wanted, 4), strict=True):
        assert answer.rank == rank(row, wanted)
        assert answer.probability == pytest.approx(float(row[wanted].exp()))
        assert [p for _, p in answer.guesses] == sorted((p for _, p in answer.guesses), reverse=True)
        assert len(answer.guesses) == 4
    assert layer_answers(model, tokenizer, ids, position)[0].rank is None
    # Only a word of one token has a rank.
    assert only_token(tokenizer, "c") == tokenizer.ids["c"]
    assert [only_token(tokenizer, text) for text in ("cab", "", " ", "[MASK]", "a b")] == [None] * 5
    assert [blank_of(tokenizer, text, 64) for text in ("no blank", "a " * 70 + "[MASK]")] == [None] * 2
    rows = ranks_over_layers(model, tokenizer, [("a [MASK] c", "b"), ("a [MASK] c", "bb"), ("no blank", "b")])
    assert [len(row) for row in rows] == [3]
