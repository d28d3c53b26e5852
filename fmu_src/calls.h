/* The mechanism that all FMI functions share, for either version: a table states in which modes a function may
 * be called, and every function begins and ends with the same macros.
 *
 * A version (fmi2_mode_table.h, fmi3_mode_table.h) defines FMI(Name), which adds its prefix, FMI_PREFIX, the same as text,
 * and FMI_CALLS(X), the rows X(function, modes in Model Exchange, modes in Co-Simulation). */
#ifndef LINKWORK_CALLS_H
#define LINKWORK_CALLS_H
#include "instance.h"

/* Sets of modes. */
#define BEFORE_SIMULATION (FMU_INSTANTIATED | FMU_INITIALIZATION)
#define READABLE (FMU_INITIALIZATION | FMU_INITIALIZED | FMU_TERMINATED)
#define SETTABLE (BEFORE_SIMULATION | FMU_INITIALIZED)
#define SETTABLE_DISCRETE (BEFORE_SIMULATION | FMU_EVENT)
#define SETTABLE_OR_KEPT (SETTABLE_DISCRETE | FMU_CONTINUOUS) /* to the value that it has, in Continuous-Time Mode */
#define EVENT_OR_CONTINUOUS (FMU_EVENT | FMU_CONTINUOUS)

#define CALL_INDEX(name, model_exchange, co_simulation) CALL_##name,
#define CALL_ROW(name, model_exchange, co_simulation) {FMI_PREFIX #name, {model_exchange, co_simulation}},
#define DECLARE_CALL_TABLE            \
  enum { FMI_CALLS(CALL_INDEX) };     \
  extern const fmu_call FMI(_calls)[]
#define DEFINE_CALL_TABLE const fmu_call FMI(_calls)[] = {FMI_CALLS(CALL_ROW)}

/* `c` is the importer's handle of the instance. */
#define BEGIN(name)                                      \
  fmu *f = fmu_begin_call(c, &FMI(_calls)[CALL_##name]); \
  if (!f) return FMI(Error)
#define NEED(pointer)                                                                                          \
  if (!(pointer)) return (FMI(Status))fmu_log_message(&f->log, FMU_ERROR, "the argument " #pointer " is NULL")
#define RETURN(status) return (FMI(Status))(status)

/* Values of other types than double, which is the type of the block. `number` is the double of `values[i]`. */
#define GET_CONVERTED(Type, types)                                                         \
  fmu_status status = fmu_reserve_scratch(f, values, n);                                   \
  if (status == FMU_OK) status = fmu_get(f, types, refs, n, f->scratch);                   \
  for (size_t i = 0; i < n && status == FMU_OK; i++) values[i] = (FMI(Type))f->scratch[i]; \
  RETURN(status)
#define SET_CONVERTED(types, number)                                         \
  fmu_status status = fmu_reserve_scratch(f, values, n);                     \
  for (size_t i = 0; i < n && status == FMU_OK; i++) f->scratch[i] = number; \
  if (status == FMU_OK) status = fmu_set(f, types, refs, n, f->scratch);     \
  RETURN(status)
#endif
