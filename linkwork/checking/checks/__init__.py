"""The checks; `linkwork.checking.registry` lists these modules."""
