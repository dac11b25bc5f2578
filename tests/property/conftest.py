"""How hard hypothesis tries: `ci` is bounded and always the same; `sanitize` tries
less, for slow builds; `thorough` draws anew and far more.

Choose with the environment variable WEALD_HYPOTHESIS.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

COMMON = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}
settings.register_profile("ci", max_examples=40, derandomize=True, database=None, **COMMON)
settings.register_profile(
    "sanitize", max_examples=10, derandomize=True, database=None, phases=[Phase.generate], **COMMON
)
settings.register_profile("thorough", max_examples=2000, **COMMON)
settings.load_profile(os.environ.get("WEALD_HYPOTHESIS", "ci"))
