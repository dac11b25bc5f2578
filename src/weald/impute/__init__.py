"""Filling missing values, for methods that cannot take them; weald's own need none of it."""
