/* Callbacks during a step: after each step of the integrator within it, and where it ends. The importer may look, set
 * continuous inputs that it listed when it made the instance, and ask for an early return. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

fmu_status fmu_find_between(fmu *f, const fmu_settings *settings) {
  f->between = settings->between;
  f->between_input = calloc((size_t)f->input.count + 1, 1);
  if (!f->between_input) return fmu_say(&f->log, FMU_ERROR, "out of memory");
  if (settings->n_between && !settings->between_references)
    return fmu_say(&f->log, FMU_ERROR, "the array of required intermediate variables is NULL");
  for (size_t i = 0; i < settings->n_between; i++) {
    const uint32_t reference = settings->between_references[i], n = fmu_elements_of(&f->interface, reference);
    if (fmu_is_continuous_input(f, reference)) memset(f->between_input + (reference - f->input.first), 1, n);
    else if (!fmu_is_computed(f, reference))
      return fmu_refuse(f, reference, "is no continuous variable of an intermediate update");
  }
  return FMU_OK;
}

int fmu_may_set_between(const fmu *f, uint32_t reference) {
  return fmu_is_within(f->input, reference) && f->between_input[reference - f->input.first];
}

/* Inputs that were set make what followed from the old ones void; and what has been told stays so. */
static double return_time(const fmu *f, const fmu_pause *pause, double from, double last) {
  if (f->run.restart && pause->return_time < pause->time) return pause->time;
  return pause->return_time >= from ? fmin(pause->return_time, last) : pause->time;
}

void fmu_tell(fmu *f, double from, double last, double *end) {
  if (!f->between.call) return;
  fmu_pause pause = {f->run.time, f->early_return_allowed && f->run.time < last, 0, f->run.time};
  const char *call = f->log.call;
  f->run.mode = FMU_INTERMEDIATE;
  f->between.call(&f->between, &pause);
  f->run.mode = FMU_STEP;
  f->log.call = call;
  if (pause.can_return && pause.return_wanted) *end = return_time(f, &pause, from, *end);
}
