/* The complex kernels, for exact derivatives. */
#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#define KERNELS lw_kernels_complex
#define LW_COMPACT
#include "all_kernels.h"
