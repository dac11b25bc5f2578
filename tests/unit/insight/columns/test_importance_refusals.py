"""What `weald.importance` refuses, and what it says then."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import weald
from weald.errors import DataError, DataTypeError, ParameterError

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 4))
NUMBER = 2 * X[:, 1] + X[:, 2]
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(big=RNG.integers(0, 2, N) == 1)
CITY = np.where((FRAME["a"] > 0) ^ FRAME["big"], "up", "down")


def test_bad_input() -> None:
    model = weald.RandomForestClassifier(5, random_state=0).fit(FRAME, CITY)
    with pytest.raises(ParameterError, match="Did you mean 'permutation'"):
        weald.importance(model, FRAME, CITY, method="permutations")
    with pytest.raises(ParameterError, match="n_repeats"):
        weald.importance(model, FRAME, CITY, n_repeats=0)
    with pytest.raises(DataError, match="needs y"):
        weald.importance(model, FRAME)
    with pytest.raises(DataError, match="240 rows and y 3"):
        weald.importance(model, FRAME, CITY[:3])
    with pytest.raises(ParameterError, match="no scorer of scikit-learn"):
        weald.importance(model, FRAME, CITY, metric="acuracy")
    with pytest.raises(ParameterError, match="names the column 'town'"):
        weald.importance(model, FRAME, CITY, groups=["town"])
    with pytest.raises(ParameterError, match="`given` of importance is for method='conditional'"):
        weald.importance(model, FRAME, CITY, given=["a"])
    with pytest.raises(ValueError, match="now missing:\n- big"):
        weald.importance(model, FRAME.drop(columns="big"), CITY)
    with pytest.raises(ParameterError, match="`library` of to_frame"):
        weald.importance(model, method="gain").to_frame("excel")
    with pytest.raises(NotFittedError):
        weald.importance(weald.DecisionTreeClassifier(), FRAME, CITY)
    with pytest.raises(DataTypeError, match="needs a fitted estimator"):
        weald.importance("model", FRAME, CITY)
    linear = LinearRegression().fit(X, NUMBER)
    with pytest.raises(DataTypeError, match="LinearRegression is not"):
        weald.importance(linear, X, method="gain")
    with pytest.raises(DataTypeError, match="is for weald's forests"):
        weald.importance(linear, X, NUMBER, method="oob")
    with pytest.raises(DataError, match="NaN in row 2"):
        weald.importance(linear, X[:4], [1.0, 2.0, np.nan, 3.0])
