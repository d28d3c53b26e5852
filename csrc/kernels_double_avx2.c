/* The double kernels for x86 processors with AVX2. The instruction set is chosen here and not by a compiler flag, so
 * that any build of these files has it. Without FMA, so that the bits are the same. */
#include "block/kernels.h"

#ifdef LW_HAVE_AVX2
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#define KERNELS lw_kernels_double_avx2
#ifndef __clang__ /* which finds it by itself */
#define LW_SQRT4(a) ((four)__builtin_ia32_sqrtpd256(a))
#endif
#include "all_kernels.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
