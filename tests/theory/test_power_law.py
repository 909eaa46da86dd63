"""Fig. 5's fit, and what is refused as a table of scores."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparring.errors import UserError
from sparring.theory.power_law import Scores, fit_power_law, read_scores


def written(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


@given(st.floats(1.0, 60.0), st.floats(0.05, 1.0))
def test_an_exact_law_is_recovered(scale: float, exponent: float) -> None:
    sizes = np.array([1.0, 7.0, 14.0, 72.0])
    law = fit_power_law(Scores(sizes, 100.0 - scale * sizes**-exponent))
    assert law.scale == pytest.approx(scale)
    assert (law.exponent, law.low, law.high) == pytest.approx((exponent,) * 3, abs=1e-6)
    assert law.explained == pytest.approx(1.0)
    assert law.missed(sizes).tolist() == pytest.approx((scale * sizes**-exponent).tolist())


def test_interval_of_the_exponent_by_hand() -> None:
    """log size 0, 1, 2 and log missed 3, 2.5, 1: slope -1, residual sum of squares 1/6, t(1) = 12.706."""
    law = fit_power_law(Scores(np.exp([0.0, 1.0, 2.0]), 100.0 - np.exp([3.0, 2.5, 1.0])))
    half_width = 12.7062047 * (1 / 6 / 2) ** 0.5
    assert law.exponent == pytest.approx(1.0)
    assert (law.low, law.high) == pytest.approx((1.0 - half_width, 1.0 + half_width))
    assert law.explained == pytest.approx(12 / 13)
    assert law.models == 3


def test_a_law_too_steep_for_a_float_is_refused() -> None:
    with pytest.raises(UserError, match="no usable number"):
        fit_power_law(Scores(np.array([7.0e9, 7.1e9, 7.2e9]), np.array([1.0, 50.0, 80.0])))


def test_a_table_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    scores = read_scores(written(tmp_path, "\ufeffmodel, score ,size\na,50,1\n\nb,60,2\nc,7e1,4\n"))
    assert scores.sizes.tolist() == [1.0, 2.0, 4.0]
    assert scores.scores.tolist() == [50.0, 60.0, 70.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has 0 columns 'size'"),
        ("size,points\n1,2\n", "has 0 columns 'score'"),
        ("size,score,size\n1,2,3\n", "has 2 columns 'size'"),
        ("size,score\n1,50\n2,many\n", "line 3: score = 'many' is not a number"),
        ("size,score\n1,50\n2\n", "line 3: score = '' is not a number"),
        ("size,score\nnan,50\n", "line 2: size = 'nan' is not a number"),
        ("size,score\n0,50\n", "line 2: size = '0' is not above 0"),
        ("size,score\n-7,50\n", "size = '-7' is not above 0"),
        ("size,score\n7,100\n", "score = '100' is not from 0 to below 100"),
        ("size,score\n7,-1\n", "score = '-1' is not from 0 to below 100"),
        ("size,score\n1,50\n2,60\n", "has 2 rows; a fit needs at least 3"),
        ("size,score\n7,50\n7,60\n7,61\n", "has one size, 7, in all rows"),
        ("size,score\n7,50\n8,50\n9,50\n", "has one score, 50, in all rows"),
        (f"size,score\n{'9' * 200_000},1\n", "is not CSV"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=r"^\S[^\n]+$") as refusal:
        read_scores(written(tmp_path, text))
    assert said in str(refusal.value)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        read_scores(tmp_path / "none.csv")
