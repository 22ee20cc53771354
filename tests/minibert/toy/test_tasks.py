"""The toy world's task: its answers are what the world says, and stand where they should."""

from minibert.experiments.finetuning import TOY_DEV, TOY_SEEDS
from minibert.toy.tasks import KINDS, always_the_first, gaps_of, meant
from minibert.toy.world import generate


def test_every_answer_stands_in_the_story_where_it_says():
    data = meant(200, 7)
    assert len(data.examples) == 200
    for example in data.examples:
        (answer,) = example.answers
        assert example.context[answer.start :].split(" ")[0] == answer.text
        assert answer.start == 0 or example.context[answer.start - 1] == " "
        assert example.place == (answer.start, answer.start + len(answer.text))
        assert example.question not in example.context and example.question.endswith(".")


def test_a_gap_is_a_word_that_one_word_outside_its_sentence_determines():
    """Against the world's own annotation: whatever is left out is determined by the word that is the answer."""
    seen = set()
    for seed in range(60):
        story = generate(seed, world="small")
        wanted, start = set(), 0
        for sentence in story.sentences:
            texts = [word.text for word in sentence.words]
            for place, word in enumerate(sentence.words):
                outside = [j for j in word.determined_by if not start <= j < start + len(texts)]
                if word.kind in KINDS and len(word.determined_by) == len(outside) == 1:
                    around = texts[:place] + texts[place + 1 :]
                    wanted.add((" ".join(around), story.words[outside[0]].text))
            start += len(texts)
        gaps = gaps_of(story)
        found = [gap for group in gaps.values() for gap in group]
        assert {(" ".join(gap.sentence), gap.rest[gap.source]) for gap in found} == wanted
        assert all(len(gap.rest) + len(gap.sentence) + 1 == len(story.words) for gap in found)
        seen |= set(gaps)
    assert seen == set(KINDS)


def test_the_same_seed_asks_the_same_and_no_question_is_trained_on():
    train, dev = meant(300, TOY_SEEDS[0]), meant(TOY_DEV, TOY_SEEDS[1])
    assert meant(300, TOY_SEEDS[0]) == train
    known = {(example.question, example.context) for example in train.examples}
    assert not known & {(example.question, example.context) for example in dev.examples}


def test_the_first_one_named_is_right_now_and_then():
    data = meant(400, 3)
    answers = [example.answers[0].text for example in data.examples]
    people = set(answers)
    named = [next(word for word in example.context.split() if word in people) for example in data.examples]
    by_hand = sum(map(str.__eq__, named, answers)) / 400
    assert always_the_first(data) == by_hand and 0.15 < by_hand < 0.45
