"""`LinearSVC` and `LinearSVR`: machines by the columns themselves."""
