/* Independent tasks. Where the build has OpenMP several threads share them; every task does the same in any
 * thread, so that the results do not depend on the number of threads. */
#ifndef LW_THREADS_H
#define LW_THREADS_H
#include <stdint.h>

/* One task; `thread` counts from 0 and selects the scratch memory. */
typedef void (*lw_task)(void *context, int32_t task, int32_t thread);

void lw_for_each(int32_t tasks, int32_t threads, lw_task work, void *context);

/* How many lw_set_threads() asked for. */
int32_t lw_threads(void);
#endif
