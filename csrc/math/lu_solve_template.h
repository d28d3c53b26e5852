/* x = A^-1 b by the decomposition of A over SCALAR: included for one matrix and for four in SIMD lanes, with the same bits.
 * From an element to the next there are `stride` numbers. Row i of L and U is row order[i] of the matrix and of b, which must
 * not overlap x; without an order, row i, and x may be b. */
#ifndef SCALAR /* opened alone */
#include "math/scalar.h"
#define SCALAR double
#define NAMED(name) name
#endif

INLINE void NAMED(lu_solve)(const SCALAR *matrix, int32_t n, const int32_t *order, int64_t stride, const SCALAR *b,
                            SCALAR *x) {
  for (int32_t i = 0; i < n; i++) {
    const int64_t own = order ? order[i] : i;
    const SCALAR *row = matrix + own * n * stride;
    SCALAR sum = b[own * stride];
    for (int32_t j = 0; j < i; j++) sum -= row[j * stride] * x[j * stride];
    x[i * stride] = sum;
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    const SCALAR *row = matrix + (order ? order[i] : i) * n * stride;
    SCALAR sum = x[i * stride];
    for (int32_t j = i + 1; j < n; j++) sum -= row[j * stride] * x[j * stride];
    x[i * stride] = sum / row[i * stride];
  }
}
