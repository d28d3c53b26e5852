"""The checks; `linkwork.fmu.check.registry` lists these modules."""
