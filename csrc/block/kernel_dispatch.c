/* Which kernels this processor runs. The processor is asked by hand: the compilers' own helpers need libraries that
 * not all of them have. On virtual machines each question takes microseconds: it is asked once for a model. */
#include "block/kernels.h"

#ifdef LW_HAVE_AVX2
#include <cpuid.h>

static int has_avx2(void) {
  unsigned a, b, c, d, low, high;
  const unsigned saves_and_avx = 1u << 27 | 1u << 28; /* the system saves wide registers; AVX */
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & saves_and_avx) != saves_and_avx) return 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 5);
}

const lw_kernels *lw_best_kernels(void) { return has_avx2() ? &lw_kernels_double_avx2 : &lw_kernels_double; }
#else
const lw_kernels *lw_best_kernels(void) { return &lw_kernels_double; }
#endif
