"""The left-to-right model is transformers' BERT as a decoder: the same weights, the same logits."""

import torch
import transformers

from minibert.checkpoint import their_name
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import NextToken
from minibert.pretrain import fill
from minibert.relatives import build, relative_named
from minibert.relatives.left_to_right import LeftToRightConfig

SIZES = {"vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 70, "max_position_embeddings": 64, "initializer_range": 0.2}


def model(**changes) -> BertForPreTraining:
    torch.manual_seed(0)
    return build(LeftToRightConfig(**{**SIZES, **changes}), BertForPreTraining).eval()


def test_logits_equal_transformers():
    ours = model()
    theirs = transformers.BertLMHeadModel(transformers.BertConfig(**SIZES, is_decoder=True)).eval()
    state = {their_name(k, relative_named("left_to_right")): v for k, v in ours.state_dict().items()}
    unknown = theirs.load_state_dict(state, strict=False)
    assert set(unknown.missing_keys) <= {"cls.predictions.decoder.bias"}
    theirs.cls.predictions.decoder.bias.data.copy_(ours.mlm.decoder.bias)
    ids = torch.randint(61, (2, 15))
    with torch.no_grad():
        assert (ours(Batch(ids)).mlm_logits - theirs(input_ids=ids).logits).abs().max() < 1e-4


@torch.no_grad()
def test_the_loss_is_that_of_the_next_token():
    ours, ids = model(), torch.randint(5, 61, (2, 9))
    padding = torch.arange(9) < torch.tensor([[9], [4]])
    batch = NextToken().corrupt(Batch(ids, padding=padding), None, None, None, None)
    assert batch.num_targets == 8 + 3
    log_probs = ours(Batch(ids, padding=padding)).mlm_logits.log_softmax(-1)
    by_hand = [-log_probs[b, t, ids[b, t + 1]] for b, last in ((0, 8), (1, 3)) for t in range(last)]
    assert torch.allclose(ours(batch).mlm_loss, torch.stack(by_hand).mean(), atol=1e-5)


def test_a_blank_is_what_follows_the_words_before_it(letters):
    ours = model(vocab_size=letters.vocab_size)
    (first,) = fill(ours, letters, "a b [MASK] c d")
    (other,) = fill(ours, letters, "a b [MASK] x y")
    assert first == other  # what comes later is not seen
    ids = torch.tensor([letters.encode("a b").ids[:-1]])
    with torch.no_grad():
        probs = ours(Batch(ids)).mlm_logits[0, -1].softmax(-1)
    assert abs(first[0][1] - probs.max().item()) < 1e-5


def test_labels_at_blanks_move_to_the_token_before():
    labels = torch.tensor([[IGNORE, IGNORE, IGNORE, 7, IGNORE]])
    moved = NextToken().at_blanks(Batch(torch.zeros(1, 5), labels=labels)).labels
    assert moved.tolist() == [[IGNORE, IGNORE, 7, IGNORE, IGNORE]]
