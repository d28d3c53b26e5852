/* Tasks on the threads of OpenMP, or one after the other in a build without it. */
#include "dca/threads.h"
#include "linkwork.h"
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static _Atomic int32_t requested_threads = 1;

int32_t lw_threads(void) { return atomic_load(&requested_threads); }

#ifdef _OPENMP
int32_t lw_set_threads(int32_t threads) {
  const int32_t most = omp_get_num_procs();
  atomic_store(&requested_threads, threads < 1 ? most : threads);
  return lw_threads();
}

void lw_for_each(int32_t tasks, int32_t threads, lw_task work, void *context) {
  if (threads == 1 || tasks < 2) { /* not even a pool is made, which a fork would not survive */
    for (int32_t i = 0; i < tasks; i++) work(context, i, 0);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int32_t i = 0; i < tasks; i++) work(context, i, omp_get_thread_num());
}
#else
int32_t lw_set_threads(int32_t threads) {
  (void)threads;
  return 1;
}

void lw_for_each(int32_t tasks, int32_t threads, lw_task work, void *context) {
  (void)threads;
  for (int32_t i = 0; i < tasks; i++) work(context, i, 0);
}
#endif
