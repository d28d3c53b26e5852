#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#define KERNELS lw_kernels_double
#include "kernels.inc"
