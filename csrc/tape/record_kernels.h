/* The kernels of forward dynamics in the arithmetic that records. */
#ifndef LW_TAPE_RECORD_KERNELS_H
#define LW_TAPE_RECORD_KERNELS_H
#include "model/model.h"
#include "tape/recorder.h"

namespace lw {

/* Computes a block, workspace and integers as in block/kernels.h, from a stage, of constants or none, up to another one,
 * and the coordinates of cut joints without all other outputs, if `cuts`. What its numbers were made of goes to
 * the recorder. Throws a refusal where no tape can be made. */
void record_stages(recorder &to, const lw_model *m, recorded *reals, recorded *work, int32_t *integers, lw_stage from,
                   lw_stage stage, bool cuts);

} // namespace lw
#endif
