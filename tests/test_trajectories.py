"""Trajectories: what was sampled, by whom, and what of it is trained on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.trajectories import Generation, Owner, PolicySequence, Span, StopReason, train_sequence


def generation(*ids: int) -> Generation:
    return Generation(ids, tuple(-float(token) for token in ids), StopReason.END)


def test_b47_tool_tokens_are_not_trained_on() -> None:
    sequence = PolicySequence("executor")
    sequence.append_sampled(generation(5, 6))
    sequence.append([Span(Owner.TOOL, (7, 8, 9))])
    sequence.append_sampled(generation(4, 2))
    trained = train_sequence(sequence, [1.0, -0.5], zero_variance=False)
    assert trained.ids == (5, 6, 7, 8, 9, 4, 2)
    assert [int(keep) for keep in trained.loss_mask] == [1, 1, 0, 0, 0, 1, 1]
    assert sum(trained.loss_mask) == 4
    assert trained.advantages == (1.0, 1.0, 0.0, 0.0, 0.0, -0.5, -0.5)
    assert trained.log_probs == (-5.0, -6.0, 0.0, 0.0, 0.0, -4.0, -2.0)


def test_b48_markers_are_not_trained_on_even_where_a_sampled_token_has_the_same_id() -> None:
    sequence = PolicySequence("executor")
    sequence.append([Span(Owner.MARKER, (3,)), Span(Owner.PROMPT, (8,)), Span(Owner.MARKER, (2, 4))])
    sequence.append_sampled(generation(8, 2))
    sequence.append([Span(Owner.MARKER, (2, 3)), Span(Owner.TOOL, (8,)), Span(Owner.MARKER, (2, 4))])
    sequence.append_sampled(generation(2))
    trained = train_sequence(sequence, [1.0, 1.0], zero_variance=False)
    assert [int(keep) for keep in trained.loss_mask] == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1]


def test_b49_sampled_ids_are_kept_with_their_log_probs() -> None:
    """The vocabulary a=1, b=2, ab=3 would write the sampled a, b as 3."""
    sequence = PolicySequence("executor")
    sequence.append([Span(Owner.PROMPT, (9,))])
    sequence.append_sampled(generation(1, 2))
    sequence.append([Span(Owner.TOOL, (7,))])
    trained = train_sequence(sequence, [1.0], zero_variance=False)
    assert trained.ids == (9, 1, 2, 7)
    assert trained.log_probs == (0.0, -1.0, -2.0, 0.0)


def test_b51_the_sampled_end_is_trained_on_whatever_its_id() -> None:
    sequence = PolicySequence("executor")
    sequence.append_sampled(generation(9, 9, 0))
    trained = train_sequence(sequence, [1.0], zero_variance=True)
    assert trained.ids == (9, 9, 0)
    assert trained.loss_mask == (True, True, True)
    assert trained.zero_variance


TURNS = st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), max_size=4)))


@given(TURNS)
def test_each_turn_gives_its_advantage_to_its_own_tokens(turns: list[tuple[list[int], list[int]]]) -> None:
    sequence = PolicySequence("executor")
    expected: list[float] = []
    for number, (heard, said) in enumerate(turns):
        sequence.append([Span(Owner.TOOL, tuple(heard))])
        sequence.append_sampled(generation(*said))
        expected += [0.0] * len(heard) + [number + 1.0] * len(said)
    trained = train_sequence(sequence, [number + 1.0 for number in range(len(turns))], zero_variance=False)
    assert list(trained.advantages) == expected
    assert list(trained.loss_mask) == [value > 0 for value in expected]


def test_what_does_not_fit_together_is_refused() -> None:
    sequence = PolicySequence("executor")
    with pytest.raises(ValueError, match="added with their log-probs"):
        sequence.append([Span(Owner.SAMPLED, (1,))])
    with pytest.raises(ValueError, match="2 ids but 1 log-probs"):
        Generation((1, 2), (-1.0,), StopReason.END)
    with pytest.raises(ValueError, match="1 advantages for 0 turns"):
        train_sequence(sequence, [1.0], zero_variance=False)
