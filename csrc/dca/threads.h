/* Work that falls into independent pieces. Where the build has OpenMP several threads share it; every piece does the
 * same whoever does it, so that the results do not depend on their number. */
#ifndef LW_THREADS_H
#define LW_THREADS_H
#include <stdint.h>

/* One piece; `thread` counts from 0 and tells whose scratch to use. */
typedef void (*lw_task)(void *context, int32_t task, int32_t thread);

void lw_for_each(int32_t tasks, int32_t threads, lw_task work, void *context);

/* How many lw_set_threads() asked for. */
int32_t lw_threads(void);
#endif
