/* The interpreter of tapes for x86 processors with AVX2; see kernels_double_avx2.c. */
#include "block/kernels.h"

#ifdef LW_HAVE_AVX2
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#define LW_SQRT4(a) ((four)__builtin_ia32_sqrtpd256(a))
#endif

#define RUN_TAPE lw_run_tape_avx2
#define FIND_LARGE lw_find_large_avx2
#define MOVE_COLUMN lw_move_column_avx2
#define SOLVE_COLUMNS lw_solve_columns_avx2
#include "tape/interpret_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
