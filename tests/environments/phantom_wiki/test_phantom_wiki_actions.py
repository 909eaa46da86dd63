import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.environments.phantom_wiki.actions import (
    Action,
    Article,
    Find,
    Lookup,
    read_chat,
    read_compact,
    write_chat,
    write_compact,
)
from sparring.environments.phantom_wiki.kinship import ATTRIBUTES, RELATIONS
from sparring.environments.phantom_wiki.names import SHORT_NAMES

NAMES = st.lists(
    st.sampled_from(["ann smith", "eve ray", "hal o'neil", "zoë läu"]), min_size=1, max_size=3, unique=True
).map(tuple)
VALUES = st.sampled_from([*ATTRIBUTES, *RELATIONS, "judge"])
CALLS = st.builds(Article, NAMES) | st.builds(Find, VALUES, VALUES) | st.builds(Lookup, NAMES, VALUES)
ACTIONS = st.builds(
    Action, claim=NAMES | st.just(()), call=CALLS | st.none(), done=st.booleans(), submit=st.booleans()
).filter(lambda action: action != Action())


@given(action=ACTIONS)
def test_chat_actions_read_back_but_a_claim_beside_a_lookup_is_unreadable(action: Action) -> None:
    twice = action.claim and isinstance(action.call, Lookup)
    text = f'First {{"claim": "x"}}, or better {write_chat(action)} indeed.'
    assert read_chat(text, unique=False) == (None if twice else action)


@given(action=ACTIONS)
def test_where_hops_reach_one_an_action_on_several_is_none(action: Action) -> None:
    named = [action.claim, *([] if action.call is None or isinstance(action.call, Find) else [action.call.names])]
    loose, strict = (read_chat(write_chat(action), unique=unique) for unique in (False, True))
    assert strict == (None if max(map(len, named)) > 1 else loose)


@given(
    names=st.lists(st.sampled_from(SHORT_NAMES), min_size=1, max_size=3).map(tuple),
    relation=st.sampled_from(RELATIONS),
)
def test_compact_actions_read_back(names: tuple[str, ...], relation: str) -> None:
    call = Lookup(names, relation)
    for action in (Action(call=call), Action(call=call, done=True), Action(call=call, submit=True)):
        assert read_compact(write_compact(action), unique=False) == action
        assert read_compact(write_compact(action), unique=True) == (action if len(names) == 1 else None)


@pytest.mark.parametrize(
    "action",
    [
        Action(("ann",), submit=True),
        Action(call=Article(("ann",))),
        Action(("bob",), Lookup(("ann",), "mother")),
        Action(call=Lookup(("ann",), "mother"), done=True, submit=True),
    ],
)
def test_what_the_compact_pack_cannot_say_is_not_written(action: Action) -> None:
    with pytest.raises(TypeError, match="compact actions are lookups"):
        write_compact(action)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no object",
        "{}",
        '{"claim": "Eve"',
        '{"claim": 3}',
        '{"claim": {"name": "Eve"}}',
        '{"done": "yes"}',
        '{"done": false}',
        '{"tool": "article"}',
        '{"tool": "article", "name": ""}',
        '{"tool": "search", "name": "Eve"}',
        '{"tool": ["article"], "name": "Eve"}',
        '{"tool": "find", "attribute": "hobby", "value": 1}',
        '<think>{"claim": "Eve"}',
        '{"a":' * 2000,
    ],
)
def test_unreadable_chat_actions(text: str) -> None:
    assert read_chat(text, unique=False) is None


def test_a_looked_up_answer_is_submitted_in_one_object() -> None:
    text = '{"tool": "lookup", "person": "Ann  SMITH", "relation": "Mother", "claim": null, "submit": true}'
    assert read_chat(text, unique=True) == Action(call=Lookup(("ann smith",), "mother"), submit=True)
    assert read_chat(text.replace("null", '"Eve"'), unique=True) is None


def test_null_fields_are_absent() -> None:
    assert read_chat('{"claim": "Eve  RAY", "tool": null, "done": null}', unique=True) == Action(("eve ray",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "done",
        "ann",
        "ann done",
        "mother",
        "submit",
        "ann submit",
        "mother submit",
        "ann submit done",
        "submit ann mother",
        "ann mother done submit",
        "ann mother submit done",
        "Ann mother",
        "ann mother bob",
        "ann mother mother",
        "ann hobby",
    ],
)
def test_unreadable_compact_actions(text: str) -> None:
    assert read_compact(text, unique=False) is None
