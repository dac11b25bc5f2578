"""What a report tells, found: each module makes one record of `weald.report.records`."""
