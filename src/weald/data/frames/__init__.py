"""The kinds of tables that users have: reading each of them, and writing into them."""
