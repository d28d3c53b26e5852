/* The frames of joints with which the loops of a model are exact; see exact_loops_kernel.h. */
#include "model/exact_loops.h"
#include "linkwork.h"
#include "model/model.h"
#include "block/kernels.h"
#include <stdlib.h>
#include <string.h>

#define FRAME_FIELDS 14
#define DIRECTIONS 3 /* of a joint at most */

static void multiply(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static int is_identity(const double r[9]) {
  for (int i = 0; i < 9; i++)
    if (r[i] != (i % 4 == 0)) return 0;
  return 1;
}

static void apply_changes(const lw_model *m, const lw_exact_loops *x, lw_frame *frames) {
  for (int32_t k = 0; k < 2 * m->size.joints; k++) {
    double rotation[9];
    for (int i = 0; i < 3; i++) frames[k].position[i] += x->shift[k][i];
    if (is_identity(x->turn[k])) continue;
    multiply(x->turn[k], frames[k].rotation, rotation);
    memcpy(frames[k].rotation, rotation, sizeof rotation);
  }
}

/* Memory for all of it. */
static int open_memory(const lw_model *m, lw_exact_loops *x) {
  const size_t joints = (size_t)m->size.joints, loops = (size_t)m->size.loops,
               columns = (size_t)(m->size.nu + m->size.nu_cut);
  x->direction = malloc(sizeof *x->direction * DIRECTIONS * joints);
  x->centre = calloc(loops, sizeof *x->centre);
  x->rank = calloc(2 * loops + 2 * joints, sizeof(int32_t));
  x->saved = calloc((FRAME_FIELDS + 2 * 9 + 2 * 3) * joints + 6 * columns, sizeof(double));
  x->mobile = malloc(sizeof *x->mobile); /* some megabytes, of which few loops use more than a little */
  if (!x->direction || !x->centre || !x->rank || !x->saved || !x->mobile) return 0;
  x->gains = x->rank + loops, x->is_on = x->gains + loops, x->place = x->is_on + joints;
  x->column = x->saved + FRAME_FIELDS * joints;
  x->turn = (double (*)[9])(x->column + 6 * columns);
  x->shift = (double (*)[3])(x->turn + 2 * joints);
  for (size_t k = 0; k < 2 * joints; k++)
    for (int i = 0; i < 3; i++) x->turn[k][4 * i] = 1.0;
  return 1;
}

lw_status lw_model_exact_frames(const lw_model *m, lw_frame *frames, int32_t *changed, int32_t *inexact) {
  *changed = 0, *inexact = -1;
  if (m->clusters == 0) return LW_OK;
  lw_block b = {.reals = calloc((size_t)m->size.reals, sizeof(double)),
                .work = calloc(lw_workspace_reals(m) + 1, sizeof(double)),
                .integers = calloc((size_t)m->integers, sizeof(int32_t))};
  lw_exact_loops *x = calloc(1, sizeof *x);
  const int ready = b.reals && b.work && b.integers && x && open_memory(m, x);
  if (ready) {
    memcpy(b.reals, m->defaults, sizeof(double) * (size_t)m->parameters);
    const lw_kernels *k = m->kernels;
    if (!k->constants(m, b).kind) k->make_loops_exact(m, b, x);
    if (x->changed) apply_changes(m, x, frames);
    *changed = x->changed, *inexact = x->inexact_plus_1 - 1;
  }
  free(b.reals);
  free(b.work);
  free(b.integers);
  if (x) free(x->direction), free(x->centre), free(x->rank), free(x->saved), free(x->mobile);
  free(x);
  return ready ? LW_OK : LW_ERROR_MEMORY;
}
