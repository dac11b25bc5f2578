"""A trace of a fit as text, frames and HTML."""
