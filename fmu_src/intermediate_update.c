/* Callbacks during a step: after each step of the integrator within it, and where it ends. The importer may look, set
 * continuous inputs that it listed when it made the instance, and ask for an early return. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

fmu_status fmu_set_update_callback(fmu *f, const fmu_instantiation *instantiation) {
  f->update_callback = instantiation->update_callback;
  f->intermediate_input = calloc((size_t)f->input.count + 1, 1);
  if (!f->intermediate_input) return fmu_log_message(&f->log, FMU_ERROR, "out of memory");
  if (instantiation->n_intermediate && !instantiation->intermediate_references)
    return fmu_log_message(&f->log, FMU_ERROR, "the array of required intermediate variables is NULL");
  for (size_t i = 0; i < instantiation->n_intermediate; i++) {
    const uint32_t reference = instantiation->intermediate_references[i], n = fmu_array_size(&f->interface, reference);
    if (fmu_is_continuous_input(f, reference)) memset(f->intermediate_input + (reference - f->input.first), 1, n);
    else if (!fmu_is_continuous_output(f, reference))
      return fmu_refuse_variable(f, reference, "is no continuous variable of an intermediate update");
  }
  return FMU_OK;
}

int fmu_may_set_in_update(const fmu *f, uint32_t reference) {
  return fmu_in_range(f->input, reference) && f->intermediate_input[reference - f->input.first];
}

/* Inputs that were set make what followed from the old ones void; and what has been told stays so. */
static double return_time(const fmu *f, const fmu_intermediate_update *update, double from, double last) {
  if (f->run.restart_needed && update->return_time < update->time) return update->time;
  return update->return_time >= from ? fmin(update->return_time, last) : update->time;
}

void fmu_call_intermediate_update(fmu *f, double from, double last, double *end) {
  if (!f->update_callback.invoke) return;
  fmu_intermediate_update update = {f->run.time, f->early_return_allowed && f->run.time < last, 0, f->run.time};
  const char *call = f->log.function;
  f->run.mode = FMU_INTERMEDIATE;
  f->update_callback.invoke(&f->update_callback, &update);
  f->run.mode = FMU_STEP;
  f->log.function = call;
  if (update.can_return_early && update.early_return_requested) *end = return_time(f, &update, from, *end);
}
