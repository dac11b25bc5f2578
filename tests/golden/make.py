"""Makes the golden files of one format version: run once per version, never again for an old one.

python tests/golden/make.py 1.0
python tests/golden/make.py 1.6 conformal      only those whose names begin so
"""

from __future__ import annotations

import datetime as dt
import json
import pathlib
import sys

import numpy as np

from weald import (
    SMOTE,
    SVC,
    SVR,
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    Booster,
    Conformal,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DMatrix,
    EasyEnsembleClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Landmarks,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    ProximityImputer,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomUnderSampler,
    Resampled,
    RUSBoostClassifier,
    SMOTETomek,
    Thresholded,
    VotingClassifier,
    XGBClassifier,
    XGBRanker,
    XGBRegressor,
    XGBRFClassifier,
    XGBRFRegressor,
    train,
)
from weald.datasets import load_penguins
from weald.kernels import RBF, Linear

FOLDER = pathlib.Path(__file__).parent


def penguins() -> dict[str, list]:
    """The penguins and, so that every kind of column occurs, a flag and a date made from the year."""
    X, _ = load_penguins()
    X["heavy"] = [None if mass is None else mass > 4000 for mass in X["body_mass_g"]]
    X["season"] = [dt.datetime(year, 11, 1) for year in X["year"]]
    return X


def models():
    """Name, unfitted model, columns, target and weights of each golden file."""
    X, (_, species) = penguins(), load_penguins()
    bills = [[length, depth] for length, depth in zip(X["bill_length_mm"], X["bill_depth_mm"], strict=True)]
    bills = np.array(bills, float)
    weight = 0.5 + np.arange(len(species)) % 7 / 10
    adelie = np.array([name == "Adelie" for name in species])
    yield "classifier", DecisionTreeClassifier(), X, species, None
    binned = DecisionTreeClassifier(max_bins=16, max_depth=5, criterion="entropy", class_weight={True: 2.0})
    yield "binned-weighted-bool", binned, bills, adelie, weight
    regressor = DecisionTreeRegressor(min_samples_leaf=3, categorical_features=["year"], unknown="error")
    yield "regressor", regressor, X, np.arange(len(species)) % 13 + np.where(adelie, 0.25, 3.5), None
    several = DecisionTreeClassifier(max_depth=4, class_weight=[{"Adelie": 2.0}, None])
    yield "two-labels", several, X, {"species": species, "kind": np.arange(len(species)) % 3}, None
    medians = DecisionTreeRegressor(criterion="absolute_error", max_depth=4)
    yield "two-medians", medians, bills, np.column_stack([weight, np.arange(len(species)) % 13]), None
    yield from boosters(X, species, bills, weight)
    yield from ensembles(X, species, bills, weight)
    yield from machines(X, species, bills, weight)
    imputer = ProximityImputer(RandomForestClassifier(4, max_depth=4), max_iter=2, random_state=1)
    yield "imputer", imputer, bills, species, None
    yield from conformal(X, species, bills, weight)
    cleaned = SMOTETomek(sampling_strategy="minority", smote=SMOTE(k_neighbors=3, random_state=1))
    yield "resampled", Resampled(DecisionTreeClassifier(max_depth=3), cleaned), X, species, weight
    shallow, fewer = (
        DecisionTreeClassifier(max_depth=2),
        RandomUnderSampler(sampling_strategy={"Adelie": 40}, random_state=1),
    )
    yield "resampled-blend", Resampled(shallow, fewer, correct_prior="blend"), bills, species, weight


def boosters(X, species, bills, weight):
    """Those of boosters."""
    adelie = np.array([name == "Adelie" for name in species])
    yield "boosted-classes", XGBClassifier(n_estimators=4, max_depth=3), X, species, None
    one = XGBClassifier(n_estimators=12, early_stopping=0.2, learning_rate=0.5, class_weight="balanced")
    yield "boosted-stopped", one, X, adelie, weight
    several = XGBClassifier(
        n_estimators=3, multi_strategy="multi_output_tree", tree_method="hist", max_bin=16
    )
    yield "boosted-questions", several, bills, np.column_stack([adelie, np.arange(len(species)) % 2]), None
    dart = XGBRegressor(
        n_estimators=5,
        booster="dart",
        rate_drop=0.5,
        subsample=0.7,
        monotone_constraints={"bill_length_mm": 1},
    )
    yield "boosted-dart", dart, X, np.arange(len(species)) % 13 + np.where(adelie, 0.25, 3.5), weight
    quantiles = XGBRegressor(
        n_estimators=3,
        objective="reg:quantileerror",
        quantile_alpha=[0.1, 0.9],
        interaction_constraints=[[0], [1]],
    )
    yield "boosted-quantiles", quantiles, bills, weight, None
    counts = XGBRegressor(n_estimators=3, objective="count:poisson", missing=0.0, tree_method="hist")
    yield "boosted-counts", counts, bills, np.arange(len(species)) % 5, None
    ranker = XGBRanker(n_estimators=3, unknown="error")
    one_query = {**X, "qid": np.zeros(len(species), np.int64)}
    yield "boosted-ranking", ranker, one_query, np.arange(len(species)) % 4, None
    yield "boosted-forest-classes", XGBRFClassifier(n_estimators=5, max_depth=3), X, species, weight
    yield "boosted-native", NativeTraining(), bills, adelie.astype(np.int64), None
    yield "boosted-forest", XGBRFRegressor(n_estimators=5, max_depth=3), bills, weight, None


def ensembles(X, species, bills, weight):
    """Those of bagging, voting, stages and forests."""
    bag = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=3, max_features=0.5, random_state=1
    )
    yield "bagged-columns", bag, X, species, weight
    boosted = BaggingRegressor(XGBRegressor(n_estimators=2), n_estimators=2, random_state=1)
    yield "bagged-boosters", boosted, bills, weight, None
    members = [("bag", bag), ("gone", "drop"), ("boosted", XGBClassifier(n_estimators=2))]
    stages = GradientBoostingClassifier(n_estimators=3, subsample=0.7, random_state=1)
    yield "stages-classes", stages, X, species, weight
    started = GradientBoostingRegressor(
        loss="huber", leaf="exact", n_estimators=3, init=DecisionTreeRegressor(max_depth=1)
    )
    yield "stages-started", started, bills, weight, None
    based = GradientBoostingRegressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=2)
    yield "stages-based", based, bills, weight, None
    yield "weighed-stumps", AdaBoostClassifier(n_estimators=4), X, species, weight
    drawn = AdaBoostRegressor(n_estimators=3, resample="compound", random_state=1)
    yield "weighed-numbers", drawn, bills, weight, None
    forest = RandomForestClassifier(4, class_weight="balanced_subsample", oob_score=False, random_state=1)
    yield "forest", forest, X, species, weight
    combined = RandomForestRegressor(3, feature_combinations=2, leaf_dtype="float32", random_state=1)
    yield "forest-combined", combined, bills, weight, None
    yield "forest-random", ExtraTreesRegressor(3, max_depth=5, random_state=1), X, weight, None
    yield "votes", VotingClassifier(members, voting="soft", weights=[1, 2, 3]), X, species, None
    yield from balanced(X, species, weight)


def balanced(X, species, weight):
    """Those for rare classes, and a threshold."""
    forest = BalancedRandomForestClassifier(4, sampling_strategy="auto", replacement=False, random_state=1)
    yield "balanced-forest", forest, X, species, weight
    two = BalancedRandomForestClassifier(3, max_depth=3, correct_prior="blend", random_state=2)
    yield "balanced-blend", two, X, species, weight
    yield "balanced-bags", BalancedBaggingClassifier(n_estimators=3, random_state=1), X, species, weight
    few = AdaBoostClassifier(n_estimators=2)
    yield "balanced-easy", EasyEnsembleClassifier(2, few, random_state=1), X, species, None
    tree = DecisionTreeClassifier(max_depth=3)
    yield "balanced-rounds", RUSBoostClassifier(tree, n_estimators=3, random_state=1), X, species, weight
    rare = ["yes" if name == "Chinstrap" else "no" for name in species]
    yield "thresholded", Thresholded(tree, "f1", cv=2), X, rare, None
    costs = [[0, 1, 5], [2, 0, 1], [1, 1, 0]]
    yield "thresholded-costs", Thresholded(tree, costs), X, species, weight


def machines(X, species, bills, weight):
    """Those of support vector machines, landmarks and neighbours."""
    adelie = np.array([name == "Adelie" for name in species])
    yield "machine-pairs", SVC(scale=True, probability=True, random_state=1), X, species, weight
    rest = SVC(kernel="poly", coef0=1.0, scale=True, multi_class="ovr", class_weight="balanced")
    yield "machine-rest", rest, bills, species, None
    steps = SVC(kernel=RBF(sigma=2.0) + 0.5 * Linear(), probability="isotonic", scale=True, random_state=1)
    yield "machine-sum", steps, bills, adelie, None
    yield "machine-texts", SVC(kernel="spectrum"), list(X["island"]), species, None
    yield (
        "machine-landmarks",
        SVC(solver="landmarks", n_landmarks=20, scale=True, random_state=1),
        X,
        species,
        None,
    )
    yield "machine-numbers", SVR(scale=True, categorical_features=["year"], unknown="error"), X, weight, None
    yield "machine-linear", LinearSVC(scale=True), X, species, weight
    yield "machine-linear-numbers", LinearSVR(scale=True), bills, weight, None
    yield "neighbours", KNeighborsClassifier(metric="mixed", weights="distance"), X, species, None
    both = np.column_stack([weight, np.arange(len(species)) % 13])
    yield "neighbours-numbers", KNeighborsRegressor(3, p=1), bills, both, None
    yield "logistic", LogisticRegression(scale=True, l1_ratio=0.2), X, species, weight
    yield "landmarks", Landmarks(6, scale=True, features="similarity", random_state=1), X, None, None


def conformal(X, species, bills, weight):
    """Those of intervals and sets."""
    numbers = np.arange(len(species)) % 13 + 3.5 * weight
    sets = Conformal(
        RandomForestClassifier(20, max_depth=3, random_state=1), method="jackknife+", max_rows=60
    )
    yield "conformal-sets", sets.set_params(conformity_score="aps", class_conditional=True), X, species, None
    folds = Conformal(DecisionTreeRegressor(max_depth=3), method="cv+", cv=3, random_state=1)
    yield "conformal-folds", folds, X, numbers, weight
    booster = XGBRegressor(n_estimators=3, objective="reg:quantileerror", quantile_alpha=[0.1, 0.9])
    yield "conformal-quantiles", Conformal(booster, method="cqr", random_state=1), bills, numbers, None
    leaves = RandomForestRegressor(3, max_depth=4, random_state=1)
    yield "conformal-leaves", Conformal(leaves, method="cqr", quantiles=[0.2, 0.8]), bills, numbers, weight


class NativeTraining:
    """`weald.train` on a DMatrix, in the form of an estimator."""

    def fit(self, X, y):
        params = {"objective": "binary:logistic", "max_depth": 3}
        self.booster = train(params, DMatrix(X, label=y), 4)
        self.save, self.predict = self.booster.save, self.booster.predict
        return self


def values(model, X):
    """What the model says of every row: shares, output after output, or numbers."""
    if isinstance(model, Booster | NativeTraining):
        return model.predict(DMatrix(X)).tolist()
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        return model.transform(X).tolist()
    if isinstance(model, Conformal):  # means of trees go through BLAS
        if hasattr(model, "classes_"):
            return model.predict_set(X, 0.8).tolist()
        return model.predict_interval(X, 0.8).round(9).tolist()
    if isinstance(model, SVC | LinearSVC):  # curves of probabilities go through exp and log of NumPy
        return model.decision_function(X).tolist()
    if not hasattr(model, "predict_proba"):
        return model.predict(X).tolist()
    shares = model.predict_proba(X)
    return np.hstack(shares if isinstance(shares, list) else [shares]).tolist()


def main(version: str, start: str = "") -> None:
    for name, model, X, y, weight in models():
        if not name.startswith(start):
            continue
        model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
        model.save(FOLDER / f"{version}-{name}.weald")
        expected = {
            "values": values(model, X),
            "leaves": model.apply(X).tolist() if hasattr(model, "apply") else None,
            "text": model.to_text() if hasattr(model, "to_text") else None,
        }
        (FOLDER / f"{version}-{name}.json").write_text(json.dumps(expected), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
