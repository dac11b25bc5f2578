"""Tables, schemas, targets and codes: from what the user has to what the engine reads."""
