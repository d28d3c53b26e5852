/* The functions of FMI 2.0: each translates its arguments for the instance, which knows no version. */
#include "fmi2_mode_table.h"

#include <string.h>

DEFINE_CALL_TABLE;

/* ---- life cycle -------------------------------------------------------------------------------------- */

/* The callback expects a printf format and replaces #r1# by a variable name: both characters are escaped. */
static void write_log(const fmu_log *log, fmu_status status, const char *category, const char *text) {
  char escaped[4100];
  size_t n = 0;
  for (; *text && n + 3 < sizeof escaped; text++) {
    if (*text == '%' || *text == '#') escaped[n++] = *text;
    escaped[n++] = *text;
  }
  escaped[n] = 0;
  ((fmi2CallbackLogger)log->callback)(log->environment, log->instance_name, (fmi2Status)status, category, escaped);
}

const char *fmi2GetTypesPlatform(void) { return "default"; }

const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
  BEGIN(SetDebugLogging);
  RETURN(fmu_set_logging(&f->log, on, n, categories));
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)visible;
  const fmu_instantiation instantiation = {
      .kind = type == fmi2CoSimulation ? FMU_CO_SIMULATION : FMU_MODEL_EXCHANGE,
      .token = guid,
      .resources = resources,
      .log = {.write = write_log,
              .callback = functions ? (void (*)(void))functions->logger : NULL,
              .environment = functions ? functions->componentEnvironment : NULL,
              .instance_name = name,
              .enabled = logging ? FMU_LOG_ALL : 0,
              .function = "fmi2Instantiate"},
  };
  if (type == fmi2ModelExchange || type == fmi2CoSimulation) return fmu_create(&instantiation);
  fmu_log_message(&instantiation.log, FMU_ERROR, "the type %d is neither fmi2ModelExchange nor fmi2CoSimulation",
                  (int)type);
  return NULL;
}

void fmi2FreeInstance(fmi2Component c) { fmu_free(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop) {
  BEGIN(SetupExperiment);
  RETURN(fmu_set_up_experiment(f, tolerance_defined, tolerance, start, stop_defined, stop));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  BEGIN(EnterInitializationMode);
  RETURN(fmu_enter_mode(f, FMU_INITIALIZATION));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  BEGIN(ExitInitializationMode);
  RETURN(fmu_exit_initialization(f));
}

fmi2Status fmi2Terminate(fmi2Component c) {
  BEGIN(Terminate);
  RETURN(fmu_enter_mode(f, FMU_TERMINATED));
}

fmi2Status fmi2Reset(fmi2Component c) {
  BEGIN(Reset);
  RETURN(fmu_reset(f));
}

/* ---- variables --------------------------------------------------------------------------------------- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2Real values[]) {
  BEGIN(GetReal);
  RETURN(fmu_get(f, FMU_REAL, refs, n, values));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Real values[]) {
  BEGIN(SetReal);
  RETURN(fmu_set(f, FMU_REAL, refs, n, values));
}

#define VARIABLES(Type, types, number)                                                                              \
  fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2##Type values[]) {       \
    BEGIN(Get##Type);                                                                                               \
    GET_CONVERTED(Type, types);                                                                                     \
  }                                                                                                                 \
  fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2##Type values[]) { \
    BEGIN(Set##Type);                                                                                               \
    SET_CONVERTED(types, number);                                                                                   \
  }
VARIABLES(Integer, FMU_INTEGER | FMU_ENUMERATION, values[i])
VARIABLES(Boolean, FMU_BOOLEAN, values[i] != fmi2False)

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2String values[]) {
  (void)refs, (void)values;
  BEGIN(GetString);
  RETURN(fmu_refuse_type(f, "String", n));
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2String values[]) {
  (void)refs, (void)values;
  BEGIN(SetString);
  RETURN(fmu_refuse_type(f, "String", n));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns,
                                        const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
  BEGIN(GetDirectionalDerivative);
  RETURN(fmu_directional_derivative(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity));
}

/* ---- state of the instance --------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
  BEGIN(GetFMUstate);
  RETURN(fmu_snapshot_get(f, state));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  BEGIN(SetFMUstate);
  RETURN(fmu_snapshot_set(f, state));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
  BEGIN(FreeFMUstate);
  RETURN(fmu_snapshot_free(f, state));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
  BEGIN(SerializedFMUstateSize);
  RETURN(fmu_snapshot_size(f, state, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  BEGIN(SerializeFMUstate);
  RETURN(fmu_snapshot_write(f, state, bytes, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  BEGIN(DeSerializeFMUstate);
  RETURN(fmu_snapshot_read(f, bytes, size, state));
}

/* ---- Model Exchange ---------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
  BEGIN(EnterEventMode);
  RETURN(fmu_enter_mode(f, FMU_EVENT));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  BEGIN(NewDiscreteStates);
  NEED(info);
  fmu_event_info update = {0};
  const fmu_status status = fmu_update_discrete_states(f, &update);
  memset(info, 0, sizeof *info);
  info->nominalsOfContinuousStatesChanged = update.nominals_changed;
  info->valuesOfContinuousStatesChanged = update.states_changed;
  info->nextEventTimeDefined = update.time_defined;
  info->nextEventTime = update.time;
  RETURN(status);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  BEGIN(EnterContinuousTimeMode);
  RETURN(fmu_enter_continuous_time_mode(f));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate) {
  (void)no_set_state_before;
  BEGIN(CompletedIntegratorStep);
  NEED(enter_event_mode);
  NEED(terminate);
  *terminate = fmi2False;
  int event_mode_needed = 0;
  const fmu_status status = fmu_completed_integrator_step(f, &event_mode_needed);
  *enter_event_mode = event_mode_needed;
  RETURN(status);
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  BEGIN(SetTime);
  RETURN(fmu_set_time(f, time));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
  BEGIN(SetContinuousStates);
  RETURN(fmu_set_states(f, x, n));
}

#define GET_ARRAY(Name, get)                                               \
  fmi2Status fmi2Get##Name(fmi2Component c, fmi2Real values[], size_t n) { \
    BEGIN(Get##Name);                                                      \
    RETURN(get(f, values, n));                                             \
  }
GET_ARRAY(Derivatives, fmu_get_derivatives)
GET_ARRAY(EventIndicators, fmu_get_event_indicators)
GET_ARRAY(ContinuousStates, fmu_get_states)
GET_ARRAY(NominalsOfContinuousStates, fmu_get_nominals)

/* ---- Co-Simulation ----------------------------------------------------------------------------------- */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                       const fmi2Integer orders[], const fmi2Real values[]) {
  BEGIN(SetRealInputDerivatives);
  RETURN(fmu_set_input_derivatives(f, refs, n, orders, values));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                        const fmi2Integer orders[], fmi2Real values[]) {
  BEGIN(GetRealOutputDerivatives);
  const fmu_status status = fmu_check_output_derivatives(f, refs, n, orders);
  RETURN(status == FMU_OK ? fmu_get_output_derivatives(f, refs, n, values) : status);
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state_before) {
  (void)no_set_state_before;
  BEGIN(DoStep);
  fmu_step done;
  RETURN(fmu_do_step(f, time, step, &done));
}

fmi2Status fmi2CancelStep(fmi2Component c) {
  BEGIN(CancelStep); /* steps never run asynchronously: no mode allows this call */
  return fmi2OK;
}

/* These values exist only while a step is pending, and no step ever is. */
static fmi2Status no_pending_step(fmu *f) { RETURN(fmu_log_message(&f->log, FMU_DISCARD, "no step is pending")); }

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
  (void)kind, (void)value;
  BEGIN(GetStatus);
  return no_pending_step(f);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
  BEGIN(GetRealStatus);
  NEED(value);
  if (kind != fmi2LastSuccessfulTime) return no_pending_step(f);
  *value = f->run.time;
  return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
  (void)kind, (void)value;
  BEGIN(GetIntegerStatus);
  return no_pending_step(f);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
  BEGIN(GetBooleanStatus);
  NEED(value);
  if (kind != fmi2Terminated) return no_pending_step(f);
  *value = fmi2False;
  return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
  (void)kind, (void)value;
  BEGIN(GetStringStatus);
  return no_pending_step(f);
}
