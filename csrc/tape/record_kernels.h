/* The kernels of forward dynamics in the arithmetic that records. */
#ifndef LW_TAPE_RECORD_KERNELS_H
#define LW_TAPE_RECORD_KERNELS_H
#include "model/model.h"
#include "tape/recorder.h"

namespace lw {

/* An lw_block while it is recorded. */
struct recorded_block {
  recorded *reals, *work;
  int32_t *integers;
};

/* All of them compute a block from a stage, of constants or none. What its numbers were made of goes to the recorder. They
 * throw a refusal where no tape can be made. */

/* Up to another stage, and the coordinates of cut joints without all other outputs, if `cuts`. */
void record_stages(recorder &to, const lw_model *m, recorded_block b, lw_stage from, lw_stage stage, bool cuts);

/* Poses and velocities of bodies, points of interest and measures, without accelerations: loops are as they are. */
void record_poses(recorder &to, const lw_model *m, recorded_block b, lw_stage from);

/* From `acceleration` of the tree's joints to their loads `tau`, without forward dynamics. `driven` as in block/kernels.h. */
void record_inverse_dynamics(recorder &to, const lw_model *m, recorded_block b, lw_stage from, const int32_t *driven);

} // namespace lw
#endif
