"""Real tables, with categories and missing values, go in as they are, from any library, to the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.tables import data_file

import weald

CLASSES = {
    "titanic.csv.gz": "Survived",
    "penguins.csv.gz": "species",
    "credit_approval.csv.gz": "class",
    "heart_4sites.csv.gz": "num",
    "soybean.csv.gz": "class",
    "horse_colic.csv.gz": "surgical_lesion",
    "telco_churn.csv.gz": "Churn",
    "mushroom.csv.gz": "class",
    "adult.parquet": "income",
    "weather_aus.parquet": "RainTomorrow",
}
NUMBERS = {
    "ames_housing.csv.gz": "SalePrice",
    "california_housing.csv.gz": "median_house_value",
    "bike_sharing_hour.parquet": "cnt",
    "diamonds.parquet": "price",
}


def read(path: Path) -> pa.Table:
    """The file as Arrow reads it, at most 20,000 rows; an empty cell is missing, text too."""
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path).slice(0, 20_000)
    options = pa.csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    return pa.csv.read_csv(path, convert_options=options).slice(0, 20_000)


def frames(table: pa.Table) -> dict[str, Any]:
    """The same table in three libraries, and in pandas with its nullable types."""
    return {
        "arrow": table,
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "pandas nullable": table.to_pandas().convert_dtypes(),
    }


@pytest.mark.parametrize("max_bins", [None, 64])
@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
def test_every_library_gives_the_same_model_and_predictions(name, max_bins, tmp_path):
    table = read(data_file(name))
    label = CLASSES.get(name) or NUMBERS[name]
    target = np.array(table.column(label).to_pylist())
    estimator = weald.DecisionTreeClassifier if name in CLASSES else weald.DecisionTreeRegressor
    models, predictions = {}, {}
    for library, frame in frames(table.drop_columns([label])).items():
        model = estimator(min_samples_leaf=5, max_bins=max_bins).fit(frame, target)
        model.save(tmp_path / "model.weald")
        models[library] = (tmp_path / "model.weald").read_bytes()
        predictions[library] = model.predict(frame)
    for library in models:
        np.testing.assert_array_equal(predictions[library], predictions["arrow"], err_msg=library)
        assert models[library] == models["arrow"], f"{library} and Arrow gave different model files"


def test_a_model_of_one_library_predicts_tables_of_the_others():
    table = read(data_file("titanic.csv.gz"))
    rows = frames(table.drop_columns(["Survived"]))
    model = weald.DecisionTreeClassifier(min_samples_leaf=3).fit(
        rows["pandas"], table.column("Survived").to_numpy()
    )
    expected = model.predict_proba(rows["pandas"])
    for library, frame in rows.items():
        np.testing.assert_array_equal(model.predict_proba(frame), expected, err_msg=library)


def test_missing_values_and_categories_are_used():
    table = read(data_file("titanic.csv.gz"))
    X = table.drop_columns(["Survived", "PassengerId", "Name", "Ticket"])
    y = table.column("Survived").to_numpy()
    train, test = X.slice(0, 600), X.slice(600)
    model = weald.DecisionTreeClassifier(max_depth=4).fit(train, y[:600])
    assert model.score(test, y[600:]) > max(np.mean(y[600:]), 1 - np.mean(y[600:])) + 0.1
    assert model.feature_importances_[X.column_names.index("Sex")] > 0.2


def test_dates_are_numbers():
    days = pd.date_range("2024-01-01", periods=200, freq="D")
    y = (days >= "2024-05-01").astype(int)
    expected = None
    for frame in (
        pd.DataFrame({"day": days}),
        pd.DataFrame({"day": days.as_unit("s")}),
        pl.DataFrame({"day": days.to_numpy()}),
        pa.table({"day": pa.array(days.date)}),
    ):
        model = weald.DecisionTreeClassifier().fit(frame, y)
        assert model.get_n_leaves() == 2
        assert "2024-04-30" in model.to_text()
        threshold = model.tree_.threshold[0]
        expected = expected or threshold
        assert threshold == expected
