/* Intermediate updates in Co-Simulation: after each integrator step within a communication step, and at its end. In
 * the callback the importer may get variables, set the continuous inputs it listed at instantiation and request an
 * early return. */
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
    const uint32_t reference = instantiation->intermediate_references[i];
    const fmu_scalars scalars = fmu_find_scalars(&f->interface, reference);
    if (!scalars.n)
      return fmu_log_message(&f->log, FMU_ERROR, "there is no variable with the value reference %u", reference);
    if (fmu_is_continuous_input(f, scalars.first))
      memset(f->intermediate_input + (scalars.first - f->input.first), 1, scalars.n);
    else if (!fmu_is_continuous_output(f, scalars.first))
      return fmu_refuse_variable(f, scalars.first,
                                 "is not a continuous variable, so intermediate updates cannot use it");
  }
  return FMU_OK;
}

int fmu_may_set_in_update(const fmu *f, uint32_t offset) {
  return fmu_in_range(f->input, offset) && f->intermediate_input[offset - f->input.first];
}

/* The step cannot return to a time before an input changed, or before the last intermediate update. */
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
