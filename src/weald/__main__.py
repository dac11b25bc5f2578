"""`python -m weald`: the same as the command `weald`."""

from weald.cli.main import main

if __name__ == "__main__":
    main()
