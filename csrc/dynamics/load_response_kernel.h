/* The response of closed loops to further loads: accelerations are affine in the loads of the joints, and the reduction
 * of loops/reduced_dynamics_kernel.h and tree/articulated_body_kernel.h, once done, gives their change by changed loads
 * in one sweep inward, of loads alone, and one outward. What depends on positions, speeds and masses stays. The forces
 * of the joints follow as in loops/reactions_kernel.h. In double four changes are found at once. */
#ifndef LW_LOAD_RESPONSE_KERNEL_H
#define LW_LOAD_RESPONSE_KERNEL_H
#include "block/field_view_kernel.h"
#include "loops/independent_constraints_kernel.h"
#include "loops/reactions_kernel.h"
#include "loops/reduced_dynamics_kernel.h"
#include "loops/workspace_kernel.h"
#include "math/spatial_kernel.h"
#include "tree/articulated_body_kernel.h"
#include "tree/kinematics_kernel.h"

#define SCALAR real
#define NAMED(name) name##_one
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#if LW_ARITHMETIC == LW_DOUBLE
#define SCALAR four
#define NAMED(name) name##_four
#include "dynamics/load_response_template_kernel.h"
#undef SCALAR
#undef NAMED
#endif

/* The forces of the joints, and the loads of couplings, for the present loads and accelerations themselves, as by
 * find_wrenches(), in the places of changes. */
static void find_joint_forces(const view *v) {
  const int32_t speeds = v->m->size.nu + v->m->size.nu_cut;
  copy(speeds, v->load, load_change_of_one(v, 0));
  copy(speeds, v->acceleration, acceleration_change_of_one(v, 0));
  find_forces_of_motion_one(v);
}

#if LW_ARITHMETIC == LW_DOUBLE
/* ---- one cluster alone ---- */

/* Where all links are those of one cluster with few directions, changed loads act through its accelerations y along these
 * and on the cut joints directly. With the responses of the former every response follows from four changes: the present
 * motion, and one for each direction. */
enum { FEW_DIRECTIONS = 3 };

static int is_one_small_cluster(const view *v) {
  if (v->m->segments != 1 || v->m->segment->cluster < 0) return 0;
  const cluster_work w = work_of(v, v->m->segment->cluster);
  return w.cluster->root < 0 && free_of(&w) <= FEW_DIRECTIONS;
}

/* The accelerations y of four changed loads; then the forces of the joints by these loads where y are zero. */
static void find_direct_responses(const view *v, four y[FEW_DIRECTIONS]) {
  const int32_t c = v->m->segment->cluster;
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w);
  respond_in_cluster_four(v, c);
  for (int32_t j = 0; j < FEW_DIRECTIONS; j++)
    y[j] = j < r ? *column_change_of_four(v, column_of(v, c, j)->u) : zero4();
  ldl_solve_changes_four(w.D, r, y);
  memset(acceleration_change_of_four(v, 0), 0, sizeof(four) * (size_t)(v->m->size.nu + v->m->size.nu_cut));
  memset(motion_change_of_four(v, 0), 0, sizeof(twist_change_four) * (size_t)v->m->size.bodies);
  distribute_cut_changes_four(v, c);
}

/* The forces of the joints of the present loads and accelerations, then those of each direction. */
static void find_forces_of_directions(const view *v) {
  const int32_t c = v->m->segment->cluster;
  const cluster_work w = work_of(v, c);
  const int32_t r = free_of(&w), n = w.ranks->independent, width = w.ranks->width;
  for (int32_t k = 0; k < w.n; k++) {
    const int32_t u = column_of(v, c, k)->u;
    const real *X = w.X + k * width + FIRST_FREE;
    real along[FEW_DIRECTIONS] = {0.0};
    for (int32_t j = 0; j < r; j++) {
      along[j] = w.ranks->rank ? 0.0 : X[j];
      for (int32_t z = 0; w.ranks->rank && z < n; z++) along[j] += X[z] * w.T[z * width_of_T(&w) + j];
    }
    *acceleration_change_of_four(v, u) = (four){v->acceleration[u], along[0], along[1], along[2]};
    *load_change_of_four(v, u) = (four){v->load[u]};
  }
  find_forces_of_motion_four(v);
}

/* The present accelerations change by those along the directions. */
static void accelerate_along_directions(const view *v, const real y[FEW_DIRECTIONS]) {
  const four by = {0.0, y[0], y[1], y[2]};
  const int32_t c = v->m->segment->cluster;
  const lw_cluster *cluster = &v->m->cluster[c];
  for (int32_t k = 0; k < cluster->columns; k++) {
    const int32_t u = column_of(v, c, k)->u;
    v->acceleration[u] += sum4(*acceleration_change_of_four(v, u) * by);
  }
}
#endif
#endif
