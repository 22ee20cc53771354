"""The flow: undone exactly, its log-determinant autograd's, its likelihood scipy's; what a run does."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from minibert.inside.geometry.vectors import mean_cosine
from minibert.sentence_vectors.encoder import SentenceVectors
from minibert.sentence_vectors.flow import Flow
from minibert.sentence_vectors.flow_run import FlowSettings, FlowVectors, batches_of, learn_flow
from minibert.sentence_vectors.run import HeldOut
from minibert.tasks.similarity import ScoredPair


def shaken(width: int, depth: int = 3, seed: int = 0) -> Flow:
    """A flow with weights as if it had learned."""
    flow = Flow(width, depth, hidden=8, seed=seed).double()
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in flow.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return flow


@pytest.mark.parametrize("width", [2, 5, 8])
def test_it_is_undone_and_its_log_determinant_is_that_of_autograds_jacobian(width):
    flow, u = shaken(width, seed=width), torch.randn(3, width, dtype=torch.double)
    z, _ = flow(u)
    assert not torch.allclose(z, u) and torch.allclose(flow.inverse(z), u, atol=1e-10)
    assert torch.allclose(flow(flow.inverse(u))[0], u, atol=1e-10)
    for u in torch.randn(3, width, dtype=torch.double):
        jacobian = torch.autograd.functional.jacobian(lambda x: flow(x[None])[0][0], u)
        assert torch.allclose(torch.linalg.slogdet(jacobian).logabsdet, flow(u[None])[1], atol=1e-10)


def test_the_likelihood_is_a_density():
    """Worked by other means: scipy's Gaussian of z times the determinant; and it integrates to 1 over the plane."""
    flow = shaken(2)
    u = torch.randn(6, 2, dtype=torch.double)
    with torch.no_grad():
        z, volume = flow(u)
        expected = multivariate_normal(np.zeros(2)).logpdf(z.numpy()) + volume.item()
        assert np.allclose(flow.log_likelihood(u).numpy(), expected)
        axis = torch.linspace(-15, 15, 301, dtype=torch.double)
        whole = flow.log_likelihood(torch.cartesian_prod(axis, axis)).exp().sum() * (axis[1] - axis[0]) ** 2
        assert whole.item() == pytest.approx(1, abs=0.01)


def test_it_begins_with_mean_zero_and_variance_one():
    u = 3 * torch.randn(500, 6) + 7
    flow = Flow(6)
    flow.start(u)
    z, _ = flow(u)
    assert torch.allclose(z.mean(0), torch.zeros(6), atol=1e-4) and torch.allclose(z.std(0), torch.ones(6), atol=1e-3)


def test_what_cannot_be_is_refused(small_checkpoint):
    for attempt in (
        lambda: Flow(1),
        lambda: Flow(4, 0),
        lambda: Flow(4).start(torch.zeros(1, 4)),
        lambda: FlowSettings(layers="second"),
        lambda: FlowSettings(steps=0),
        lambda: list(learn_flow(FlowSettings(), small_checkpoint, ["a", "a"])),  # one sentence
    ):
        with pytest.raises(ValueError, match=r"two|at least 1|one of"):
            attempt()


def test_batches_give_every_row_once_an_epoch_the_same_with_each_run():
    table = torch.arange(10.0)[:, None]
    some = batches_of(table, 5, seed=3)
    epoch = torch.cat([next(some).u, next(some).u]).flatten().tolist()
    assert sorted(epoch) == list(range(10)) and epoch != list(range(10))
    assert torch.equal(next(batches_of(table, 5, seed=3)).u.flatten(), torch.tensor(epoch[:5]))
    assert len(next(batches_of(table, 64, seed=0)).u) == 10


@pytest.fixture(scope="module")
def run(small_checkpoint, sentences):
    pairs = zip(sentences[::2], sentences[1::2], strict=True)
    held = HeldOut([ScoredPair(a, b, i % 6) for i, (a, b) in enumerate(pairs)])
    settings = FlowSettings(steps=60, batch_size=32, evaluate_every=30, hidden=32, report_every=15)
    vectors = SentenceVectors.from_directory(small_checkpoint, layers=(1, -1))
    before, into, mail = vectors.embed(sentences), FlowVectors(vectors), iter([[], [["a uk", "f zl"]]])
    beside = {"lines": sentences[:7], "probe_inputs": ["a uk", "b vl"], "mailbox": lambda: next(mail, [])}
    events = list(learn_flow(settings, None, sentences, held=held, into=into, **beside))
    return [(event.as_dict()["event"], event) for event in events], into, before


def test_a_run_spreads_the_vectors_and_leaves_the_encoder_alone(run, sentences):
    events, into, before = run
    found = [event.metrics for kind, event in events if kind == "eval"]
    assert len(found) == 3 and {"likelihood", "mean_cosine", "spearman"} <= found[0].keys()
    assert found[-1]["likelihood"] > found[0]["likelihood"]
    assert found[-1]["mean_cosine"] < mean_cosine(before) - 0.2
    assert np.array_equal(into.vectors.embed(sentences), before)
    assert into.embed(sentences).shape == before.shape and events[-1][0] == "done"


def test_the_same_seed_learns_the_same(small_checkpoint, sentences):
    settings = FlowSettings(steps=3, batch_size=16, evaluate_every=5, hidden=8, report_every=1)
    runs = ([event.as_dict() for event in learn_flow(settings, small_checkpoint, sentences)] for _ in "ab")
    one, other = ([event["loss"] for event in run if event["event"] == "step"] for run in runs)
    assert one == other and len(one) == 3


def test_two_texts_are_watched_and_others_may_take_their_place(run):
    said = [event.answers[0] for kind, event in run[0] if kind == "sample"]
    assert [one["texts"][1] for one in said] == ["b vl", "f zl", "f zl", "f zl"]
    assert np.array(said[0]["plane"]).shape == (9, 2) and len(said[0]["found"]) == 2
    a, b = np.array(said[-1]["plane"][-2:])
    assert a @ b == pytest.approx(said[-1]["cosine"], abs=1e-3)
