"""xgboost's native interface: `DMatrix`, `Booster`, `train` and `cv`."""
