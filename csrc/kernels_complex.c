#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#define KERNELS lw_kernels_complex
#include "kernels.inc"
