"""Balanced ensembles find as much as imbalanced-learn's, and draw as many rows."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import weald

ensemble = pytest.importorskip("imblearn.ensemble")
under_sampling = pytest.importorskip("imblearn.under_sampling")

NAMES = {
    "BalancedRandomForestClassifier": {"n_estimators": 40},
    "BalancedBaggingClassifier": {"n_estimators": 10},
    "EasyEnsembleClassifier": {"n_estimators": 3},
}


def rows(seed, n=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 3.2).astype(int)


@pytest.mark.parametrize(("name", "options"), NAMES.items(), ids=NAMES)
def test_as_good_as_imbalanced_learn(name, options):
    new, truth = rows(9, 4000)
    differences = []
    for seed in range(4):
        X, y = rows(seed)
        found = []
        for module in (weald, ensemble):
            model = getattr(module, name)(random_state=seed, **options).fit(X, y)
            ranked = roc_auc_score(truth, model.predict_proba(new)[:, 1])
            found.append([balanced_accuracy_score(truth, model.predict(new)), ranked])
        differences.append(np.subtract(*found))
    mean, error = np.mean(differences, axis=0), np.std(differences, axis=0, ddof=1) / 2
    assert (mean > -3 * error - 0.005).all(), (mean, error)


@pytest.mark.parametrize("strategy", ["auto", "all", "majority", "not majority", 0.4, {0: 70, 1: 30}])
def test_as_many_rows_of_every_class(strategy):
    X, y = rows(0)
    _, kept = under_sampling.RandomUnderSampler(sampling_strategy=strategy, random_state=0).fit_resample(X, y)
    model = weald.BalancedRandomForestClassifier(1, sampling_strategy=strategy, random_state=0).fit(X, y)
    assert model.sampling_strategy_ == dict(enumerate(np.bincount(kept).tolist()))
