"""The page: a module for each section, which renders records and computes nothing but words."""
