#include "threads.h"
#include "../linkwork.h"
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static _Atomic int32_t wanted = 1;

int32_t lw_threads(void) { return atomic_load(&wanted); }

#ifdef _OPENMP
int32_t lw_set_threads(int32_t threads) {
  const int32_t most = omp_get_num_procs();
  atomic_store(&wanted, threads < 1 ? most : threads);
  return lw_threads();
}

void lw_for_each(int32_t pieces, int32_t threads, lw_piece work, void *context) {
  if (threads == 1 || pieces < 2) { /* not even a pool is made, which a fork would not survive */
    for (int32_t i = 0; i < pieces; i++) work(context, i, 0);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int32_t i = 0; i < pieces; i++) work(context, i, omp_get_thread_num());
}
#else
int32_t lw_set_threads(int32_t threads) {
  (void)threads;
  return 1;
}

void lw_for_each(int32_t pieces, int32_t threads, lw_piece work, void *context) {
  (void)threads;
  for (int32_t i = 0; i < pieces; i++) work(context, i, 0);
}
#endif
