"""For all tests, before any library is loaded.

The threads of OpenMP (xgboost's and scikit-learn's) sleep while they wait. By default they spin, which takes
more time than all else they do on tables as small as the tests', and takes it from the tests beside.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
