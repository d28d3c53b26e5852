/* The double kernels for any processor. */
#include "block/kernels.h"

#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#define KERNELS lw_kernels_double
#ifdef LW_HAVE_AVX2
#define LW_COMPACT /* only old processors run this unit */
#endif
#include "all_kernels.h"
