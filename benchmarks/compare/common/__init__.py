"""What the comparisons share: tables, contenders, the harness and its report."""
