"""Small things that several parts share."""
