"""Settings are what they say: no text for a number, no number for a switch; a list is how TOML writes a tuple."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sparring.environments import default_environment, load_environment
from sparring.environments.base import registered
from sparring.errors import UserError
from sparring.tasks import PromptPack


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("phantom_wiki", {"maximum_hops": "3"}, "maximum_hops = '3' is not accepted: give a whole number"),
        ("phantom_wiki", {"maximum_hops": 3.0}, "maximum_hops = 3.0 is not accepted: give a whole number"),
        ("phantom_wiki", {"maximum_hops": True}, "maximum_hops = True is not accepted: give a whole number"),
        ("phantom_wiki", {"unique": 1}, "unique = 1 is not accepted: give true or false"),
        ("phantom_wiki", {"unique": "yes"}, "unique = 'yes' is not accepted: give true or false"),
        ("phantom_wiki", {"mean_friends": "3"}, "mean_friends = '3' is not accepted: give a number"),
        ("phantom_wiki", {"mean_friends": math.inf}, "mean_friends = inf is not accepted: give a finite number"),
        ("phantom_wiki", {"mean_friends": math.nan}, "mean_friends = nan is not accepted: give a finite number"),
        (
            "ifeval",
            {"families": "punctuation:no_comma"},
            "families = 'punctuation:no_comma' is not accepted: give a list",
        ),
        ("ifeval", {"families": [1]}, "families.0 = 1 is not accepted: give text, in quotes"),
        ("zebra_logic", {"ladder": 3}, "ladder = 3 is not accepted: give a list"),
        ("zebra_logic", {"ladder": []}, "ladder = [] is not accepted: give at least 1 of them"),
        ("zebra_logic", {"ladder": [3]}, "ladder.0 = 3 is not accepted: give a list"),
        ("zebra_logic", {"ladder": [[2]]}, "ladder.0.1 = [2] is not accepted: give a value there"),
        (
            "zebra_logic",
            {"ladder": [[2, 2, 0.5, 1]]},
            "ladder.0 = [2, 2, 0.5, 1] is not accepted: give at most 3 of them",
        ),
        ("zebra_logic", {"ladder": [[2, "2"]]}, "ladder.0.1 = '2' is not accepted: give a whole number"),
        ("zebra_logic", {"ladder": [[2, 2.0]]}, "ladder.0.1 = 2.0 is not accepted: give a whole number"),
    ],
)
def test_values_of_another_type_are_refused_in_one_line(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as refused:
        load_environment(name, settings, PromptPack.CHAT)
    assert str(refused.value) == f"environments.{name}.{said}"


def test_lists_are_read_as_tuples_and_whole_numbers_as_numbers() -> None:
    families = ["punctuation:no_comma", "startend:quotation"]
    ifeval = load_environment("ifeval", {"families": families, "maximum_constraints": 2}, PromptPack.CHAT)
    assert ifeval.settings.families == tuple(families)
    zebra = load_environment("zebra_logic", {"ladder": [[2, 2], [3, 3, 1]]}, PromptPack.CHAT)
    assert zebra.settings.ladder == ((2, 2, 0.0), (3, 3, 1.0))
    wiki = load_environment("phantom_wiki", {"mean_friends": 2}, PromptPack.CHAT)
    assert type(wiki.settings.mean_friends) is float


def test_every_environment_has_settings_for_both_packs() -> None:
    for name in registered():
        for pack in PromptPack:
            assert default_environment(name, pack).pack is pack
    chosen = default_environment("phantom_wiki", PromptPack.COMPACT, {"population": [7, 8]})
    assert chosen.settings.population == (7, 8)
    assert chosen.settings.tools == "lookup"
