/* The functions of FMI 3.0: each translates its arguments for the instance, which knows no version. */
#include "fmi3_mode_table.h"

DEFINE_CALL_TABLE;

#define NEED_SIZE(n, expected) \
  if ((n) != (expected)) return (fmi3Status)fmu_log_message(&f->log, FMU_ERROR, #n " is %zu, not %zu", (n), (expected))
/* Replaces value references by the offsets of their scalars: afterwards `refs` holds `n` of them. */
#define RESOLVE(which, refs, n, n_values)                                                          \
  do {                                                                                             \
    const fmu_status resolved = fmu_resolve(f, which, (const uint32_t **)&(refs), &(n), n_values); \
    if (resolved != FMU_OK) return (fmi3Status)resolved;                                           \
  } while (0)

/* ---- life cycle -------------------------------------------------------------------------------------- */

static void write_log(const fmu_log *log, fmu_status status, const char *category, const char *text) {
  ((fmi3LogMessageCallback)log->callback)(log->environment, (fmi3Status)status, category, text);
}

fmu_log fmi3_log(const char *function, fmi3String name, fmi3Boolean on, fmi3InstanceEnvironment environment,
                 fmi3LogMessageCallback callback) {
  return (fmu_log){.write = write_log,
                   .callback = (void (*)(void))callback,
                   .environment = environment,
                   .instance_name = name,
                   .enabled = on ? FMU_LOG_ALL : 0,
                   .function = function};
}

const char *fmi3GetVersion(void) { return "3.0"; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[]) {
  BEGIN(SetDebugLogging);
  RETURN(fmu_set_logging(&f->log, on, n, categories));
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
  (void)visible;
  const fmu_instantiation instantiation = {
      .kind = FMU_MODEL_EXCHANGE,
      .token = token,
      .resources = resources,
      .log = fmi3_log("fmi3InstantiateModelExchange", name, logging, environment, log),
  };
  return fmu_create(&instantiation);
}

static void invoke_update(const fmu_update_callback *update_callback, fmu_intermediate_update *update) {
  fmi3Boolean requested = false;
  fmi3Float64 time = update->time;
  ((fmi3IntermediateUpdateCallback)update_callback->callback)(update_callback->environment, update->time, true, true,
                                                              true, update->can_return_early, &requested, &time);
  update->early_return_requested = requested;
  update->return_time = time;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed, const fmi3ValueReference intermediate[],
                                         size_t n_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
  (void)visible;
  const fmu_instantiation instantiation = {
      .kind = FMU_CO_SIMULATION,
      .token = token,
      .resources = resources,
      .event_mode_used = event_mode_used,
      .early_return_allowed = early_return_allowed,
      .log = fmi3_log("fmi3InstantiateCoSimulation", name, logging, environment, log),
      .update_callback = {.invoke = update ? invoke_update : NULL,
                          .callback = (void (*)(void))update,
                          .environment = environment},
      .intermediate_references = intermediate,
      .n_intermediate = n_intermediate,
  };
  return fmu_create(&instantiation);
}

void fmi3FreeInstance(fmi3Instance c) { fmu_free(c); }

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
  BEGIN(EnterConfigurationMode);
  if (f->dae.n == 0) RETURN(fmu_log_message(&f->log, FMU_ERROR, "this FMU has no structural parameters"));
  if (f->run.mode != FMU_INSTANTIATED)
    RETURN(fmu_log_message(&f->log, FMU_ERROR, "the structural parameter is fixed: set it before Initialization Mode"));
  RETURN(fmu_enter_mode(f, FMU_CONFIGURATION));
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
  BEGIN(ExitConfigurationMode);
  RETURN(fmu_enter_mode(f, FMU_INSTANTIATED));
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
  BEGIN(EnterInitializationMode);
  const fmu_status status = fmu_set_up_experiment(f, tolerance_defined, tolerance, start, stop_defined, stop);
  RETURN(status == FMU_OK ? fmu_enter_mode(f, FMU_INITIALIZATION) : status);
}

static fmu_status enter_event_mode(fmu *f) {
  if (f->kind == FMU_MODEL_EXCHANGE || f->event_mode_used) return fmu_enter_mode(f, FMU_EVENT);
  return fmu_log_message(&f->log, FMU_ERROR,
                         "eventModeUsed was false at instantiation: events are handled within steps");
}

#define CHANGE_MODE(Name, change)         \
  fmi3Status fmi3##Name(fmi3Instance c) { \
    BEGIN(Name);                          \
    RETURN(change);                       \
  }
CHANGE_MODE(ExitInitializationMode, fmu_exit_initialization(f))
CHANGE_MODE(EnterEventMode, enter_event_mode(f))
CHANGE_MODE(EnterContinuousTimeMode, fmu_enter_continuous_time_mode(f))
CHANGE_MODE(EnterStepMode, fmu_enter_mode(f, FMU_STEP))
CHANGE_MODE(Terminate, fmu_enter_mode(f, FMU_TERMINATED))
CHANGE_MODE(Reset, fmu_reset(f))

/* ---- variables --------------------------------------------------------------------------------------- */

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3Float64 values[],
                          size_t n_values) {
  BEGIN(GetFloat64);
  RESOLVE(0, refs, n, n_values);
  RETURN(fmu_get(f, FMU_REAL, refs, n, values));
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3Float64 values[],
                          size_t n_values) {
  BEGIN(SetFloat64);
  RESOLVE(0, refs, n, n_values);
  RETURN(fmu_set(f, FMU_REAL, refs, n, values));
}

#define VARIABLES(Type, types)                                                                                   \
  fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3##Type values[],       \
                           size_t n_values) {                                                                    \
    BEGIN(Get##Type);                                                                                            \
    RESOLVE(0, refs, n, n_values);                                                                               \
    GET_CONVERTED(Type, types);                                                                                  \
  }                                                                                                              \
  fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3##Type values[], \
                           size_t n_values) {                                                                    \
    BEGIN(Set##Type);                                                                                            \
    RESOLVE(0, refs, n, n_values);                                                                               \
    SET_CONVERTED(types, values[i]);                                                                             \
  }
VARIABLES(Int32, FMU_INTEGER)
VARIABLES(Int64, FMU_ENUMERATION)
VARIABLES(Boolean, FMU_BOOLEAN)

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity) {
  BEGIN(GetDirectionalDerivative);
  RESOLVE(0, unknowns, n_unknowns, n_sensitivity);
  RESOLVE(1, knowns, n_knowns, n_seed);
  RETURN(fmu_directional_derivative(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                    size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity) {
  BEGIN(GetAdjointDerivative);
  RESOLVE(0, unknowns, n_unknowns, n_seed);
  RESOLVE(1, knowns, n_knowns, n_sensitivity);
  RETURN(fmu_adjoint_derivative(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity));
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference ref, size_t *n) {
  BEGIN(GetNumberOfVariableDependencies);
  NEED(n);
  fmu_list knowns = {NULL, 0};
  const fmu_status status = fmu_get_dependencies(f, ref, &knowns);
  *n = knowns.n;
  RETURN(status);
}

/* Dependencies are of whole arrays, which the standard numbers as element 0. */
fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[],
                                       fmi3ValueReference independents[], size_t independent_elements[],
                                       fmi3DependencyKind kinds[], size_t n) {
  BEGIN(GetVariableDependencies);
  fmu_list knowns = {NULL, 0};
  const fmu_status status = fmu_get_dependencies(f, dependent, &knowns);
  if (status != FMU_OK) RETURN(status);
  NEED_SIZE(n, (size_t)knowns.n);
  if (n == 0) return fmi3OK;
  NEED(dependent_elements);
  NEED(independents);
  NEED(independent_elements);
  NEED(kinds);
  for (size_t i = 0; i < n; i++) {
    dependent_elements[i] = independent_elements[i] = 0;
    independents[i] = knowns.items[i];
    kinds[i] = fmi3Dependent;
  }
  return fmi3OK;
}

/* ---- state of the instance --------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) {
  BEGIN(GetFMUState);
  RETURN(fmu_snapshot_get(f, state));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  BEGIN(SetFMUState);
  RETURN(fmu_snapshot_set(f, state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
  BEGIN(FreeFMUState);
  RETURN(fmu_snapshot_free(f, state));
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
  BEGIN(SerializedFMUStateSize);
  RETURN(fmu_snapshot_size(f, state, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  BEGIN(SerializeFMUState);
  RETURN(fmu_snapshot_write(f, state, bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
  BEGIN(DeserializeFMUState);
  RETURN(fmu_snapshot_read(f, bytes, size, state));
}

/* ---- Event Mode -------------------------------------------------------------------------------------- */

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  BEGIN(EvaluateDiscreteStates);
  return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *need_update, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event) {
  BEGIN(UpdateDiscreteStates);
  NEED(need_update);
  NEED(terminate);
  NEED(nominals_changed);
  NEED(values_changed);
  NEED(next_event_defined);
  NEED(next_event);
  fmu_event_info update = {0};
  const fmu_status status = fmu_update_discrete_states(f, &update);
  *need_update = *terminate = false;
  *nominals_changed = update.nominals_changed;
  *values_changed = update.states_changed;
  *next_event_defined = update.time_defined;
  *next_event = update.time;
  RETURN(status);
}

/* ---- Model Exchange ---------------------------------------------------------------------------------- */

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode,
                                       fmi3Boolean *terminate) {
  (void)no_set_state_before;
  BEGIN(CompletedIntegratorStep);
  NEED(enter_event_mode);
  NEED(terminate);
  *terminate = false;
  int event_mode_needed = 0;
  const fmu_status status = fmu_completed_integrator_step(f, &event_mode_needed);
  *enter_event_mode = event_mode_needed;
  RETURN(status);
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  BEGIN(SetTime);
  RETURN(fmu_set_time(f, time));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n) {
  BEGIN(SetContinuousStates);
  RETURN(fmu_set_states(f, x, n));
}

#define GET_ARRAY(Name, get)                                                 \
  fmi3Status fmi3Get##Name(fmi3Instance c, fmi3Float64 values[], size_t n) { \
    BEGIN(Get##Name);                                                        \
    RETURN(get(f, values, n));                                               \
  }
GET_ARRAY(ContinuousStateDerivatives, fmu_get_derivatives)
GET_ARRAY(EventIndicators, fmu_get_event_indicators)
GET_ARRAY(ContinuousStates, fmu_get_states)
GET_ARRAY(NominalsOfContinuousStates, fmu_get_nominals)

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n) {
  BEGIN(GetNumberOfEventIndicators);
  NEED(n);
  *n = (size_t)f->size.event_indicators;
  return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n) {
  BEGIN(GetNumberOfContinuousStates);
  NEED(n);
  *n = f->n_exposed_states;
  return fmi3OK;
}

/* ---- Co-Simulation ----------------------------------------------------------------------------------- */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                      fmi3Boolean *event_handling_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_time) {
  (void)no_set_state_before;
  BEGIN(DoStep);
  NEED(event_handling_needed);
  NEED(terminate);
  NEED(early_return);
  NEED(last_time);
  fmu_step done;
  const fmu_status status = fmu_do_step(f, time, step, &done);
  *event_handling_needed = done.event_handling_needed;
  *early_return = done.early_return;
  *terminate = false;
  *last_time = done.last_time;
  RETURN(status);
}

/* One order for a whole array. */
static fmu_status check_orders(const fmu *f, const uint32_t *refs, size_t n, const int32_t *orders) {
  if (n && (!refs || !orders)) return fmu_log_message(&f->log, FMU_ERROR, "an array is NULL");
  fmu_status status = FMU_OK;
  for (size_t i = 0; i < n && status == FMU_OK; i++) {
    const fmu_scalars scalars = fmu_find_scalars(&f->interface, refs[i]);
    if (scalars.n) status = fmu_check_output_derivatives(f, &scalars.first, 1, orders + i);
  }
  return status;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3Int32 orders[],
                                    fmi3Float64 values[], size_t n_values) {
  BEGIN(GetOutputDerivatives);
  const fmu_status status = check_orders(f, refs, n, orders);
  if (status != FMU_OK) RETURN(status);
  RESOLVE(0, refs, n, n_values);
  RETURN(fmu_get_output_derivatives(f, refs, n, values));
}
