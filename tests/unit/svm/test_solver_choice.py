"""Which machine for how much data: the choice by rows, columns and budget."""

from weald.svm.solver_choice import choose_solver, landmark_count

GIGABYTE = 1 << 30


def choice(asked="auto", *, n_rows=1000, n_columns=10, cache_bytes=GIGABYTE, linear=False, given=False):
    return choose_solver(
        asked, n_rows=n_rows, n_columns=n_columns, cache_bytes=cache_bytes, linear=linear, given=given
    )


def test_small_tables_are_solved_exactly():
    found = choice(n_rows=50_000)
    assert found.solver == "exact"
    assert "50,000 rows and 10 columns" in found.reason


def test_large_tables_go_by_landmarks():
    found = choice(n_rows=50_001)
    assert found.solver == "landmarks"
    assert "above 50,000 rows" in found.reason


def test_a_linear_kernel_on_a_large_table_goes_by_its_columns():
    found = choice(n_rows=200_000, linear=True)
    assert found.solver == "linear"
    assert "same machine" in found.reason


def test_a_budget_below_a_working_set_leads_to_landmarks():
    found = choice(n_rows=20_000, cache_bytes=20_000 * 4 * 500)
    assert found.solver == "landmarks"
    assert "cache_size holds 500 rows" in found.reason


def test_reasons_are_whole_sentences():
    assert choice(n_rows=60_000).reason == (
        "60,000 rows and 10 columns: above 50,000 rows an exact kernel machine takes too long, so landmarks "
        "stand for the rows. solver='exact' insists; LinearSVC and LinearSVR are the other way."
    )
    assert choice(n_rows=20_000, n_columns=1, cache_bytes=20_000 * 4).reason == (
        "20,000 rows and 1 column: cache_size holds 1 row of the kernel matrix, and an exact machine works "
        "on 1,024 at a time, so landmarks stand for the rows. cache_size=79 or solver='exact' gives the "
        "exact machine; LinearSVC and LinearSVR are the other way."
    )
    assert "works on 300 at a time. The kernel is linear" in (
        choice(n_rows=300, cache_bytes=4 * 300, linear=True).reason
    )


def test_the_budget_that_a_reason_names_is_enough():
    for n_rows in (3, 300, 1024, 7777, 50_000):
        found = choice(n_rows=n_rows, cache_bytes=4 * n_rows)
        megabytes = int(found.reason.partition("cache_size=")[2].partition(" ")[0])
        assert choice(n_rows=n_rows, cache_bytes=megabytes << 20).solver == "exact"


def test_a_budget_for_all_rows_of_a_small_table_is_enough():
    assert choice(n_rows=100, cache_bytes=100 * 4 * 100).solver == "exact"


def test_many_columns_are_said_to_call_for_a_linear_kernel():
    assert "as many columns as rows: kernel='linear'" in choice(n_rows=100, n_columns=100).reason
    assert "more than 1,000 columns" in choice(n_rows=5000, n_columns=1001).reason
    assert "kernel=" not in choice(n_rows=100, n_columns=100, linear=True).reason


def test_a_wish_is_followed():
    assert choice("exact", n_rows=10**6).solver == "exact"
    assert choice("landmarks", n_rows=10).solver == "landmarks"


def test_a_given_kernel_matrix_is_exact():
    assert choice(n_rows=60_000, given=True).solver == "exact"


def test_five_per_cent_of_the_rows_are_landmarks_within_limits_and_budget():
    assert landmark_count(None, 20_000, GIGABYTE) == 1000
    assert landmark_count(None, 500, GIGABYTE) == 100
    assert landmark_count(None, 50, GIGABYTE) == 50
    assert landmark_count(None, 60_000, 16 * GIGABYTE) == 2000
    assert landmark_count(None, 200_000, 1000 << 20) == 327
    assert landmark_count(30, 20, GIGABYTE) == 20
