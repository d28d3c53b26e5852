"""Who runs the points of a sweep: processes of this machine, or workers of a cluster."""
