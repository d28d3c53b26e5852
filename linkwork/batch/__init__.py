"""Many states of one model at once, in arrays."""

# What this folder implements, by the declaration.
IMPLEMENTS = {"linkwork.model.model.Model.batch": "linkwork.batch.batch.batch_of"}
