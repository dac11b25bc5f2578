"""The command line of weald, for people with a table and a shell; it needs the extra `weald[cli]`."""
