"""Systems as archives of SSP 1.0 (System Structure and Parameterization), to be exchanged with other tools."""
