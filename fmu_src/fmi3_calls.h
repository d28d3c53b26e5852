/* Which function of FMI 3.0 may be called in which mode, and how every one of them begins. */
#ifndef LINKWORK_FMI3_CALLS_H
#define LINKWORK_FMI3_CALLS_H
#include "fmi3.h"
#include "instance.h"

#define BEFORE_SIMULATION (FMU_INSTANTIATED | FMU_INITIALIZATION)
#define NOT_TERMINATED (FMU_ANY & ~FMU_TERMINATED)
#define READABLE (FMU_ANY & ~FMU_INSTANTIATED)
#define EVENT_OR_CONTINUOUS (FMU_EVENT | FMU_CONTINUOUS)
#define CONTINUOUS_READABLE (FMU_INITIALIZATION | EVENT_OR_CONTINUOUS | FMU_TERMINATED)
#define CONFIGURABLE (FMU_INSTANTIATED | FMU_EVENT | FMU_STEP)
#define ANY_OR_INTERMEDIATE (FMU_ANY | FMU_INTERMEDIATE)

/* X(function, modes in Model Exchange, modes in Co-Simulation) */
#define TYPED_CALLS(X, Type)                                                            \
  X(Get##Type, FMU_ANY, ANY_OR_INTERMEDIATE)                                            \
  X(Set##Type, BEFORE_SIMULATION | FMU_EVENT, BEFORE_SIMULATION | FMU_EVENT | FMU_STEP)

#define FMI3_CALLS(X)                                                                    \
  X(SetDebugLogging, FMU_ANY, ANY_OR_INTERMEDIATE)                                       \
  X(EnterInitializationMode, FMU_INSTANTIATED, FMU_INSTANTIATED)                         \
  X(ExitInitializationMode, FMU_INITIALIZATION, FMU_INITIALIZATION)                      \
  X(EnterEventMode, FMU_CONTINUOUS, FMU_STEP)                                            \
  X(Terminate, EVENT_OR_CONTINUOUS, FMU_EVENT | FMU_STEP)                                \
  X(Reset, FMU_ANY, FMU_ANY)                                                             \
  X(EnterConfigurationMode, CONFIGURABLE, CONFIGURABLE)                                  \
  X(ExitConfigurationMode, 0, 0)                                                         \
  X(GetFloat32, FMU_ANY, ANY_OR_INTERMEDIATE)                                            \
  X(SetFloat32, NOT_TERMINATED, NOT_TERMINATED | FMU_INTERMEDIATE)                       \
  X(GetFloat64, FMU_ANY, ANY_OR_INTERMEDIATE)                                            \
  X(SetFloat64, NOT_TERMINATED, NOT_TERMINATED | FMU_INTERMEDIATE)                       \
  TYPED_CALLS(X, Int8)                                                                   \
  TYPED_CALLS(X, UInt8)                                                                  \
  TYPED_CALLS(X, Int16)                                                                  \
  TYPED_CALLS(X, UInt16)                                                                 \
  TYPED_CALLS(X, Int32)                                                                  \
  TYPED_CALLS(X, UInt32)                                                                 \
  TYPED_CALLS(X, Int64)                                                                  \
  TYPED_CALLS(X, UInt64)                                                                 \
  TYPED_CALLS(X, Boolean)                                                                \
  TYPED_CALLS(X, String)                                                                 \
  TYPED_CALLS(X, Binary)                                                                 \
  X(GetClock, FMU_EVENT, FMU_EVENT)                                                      \
  X(SetClock, FMU_EVENT, FMU_EVENT)                                                      \
  X(GetNumberOfVariableDependencies, READABLE, READABLE)                                 \
  X(GetVariableDependencies, READABLE, READABLE)                                         \
  X(GetDirectionalDerivative, READABLE, READABLE)                                        \
  X(GetAdjointDerivative, READABLE, READABLE)                                            \
  X(GetFMUState, FMU_ANY, FMU_ANY)                                                       \
  X(SetFMUState, FMU_ANY, FMU_ANY)                                                       \
  X(FreeFMUState, FMU_ANY, FMU_ANY)                                                      \
  X(SerializedFMUStateSize, FMU_ANY, FMU_ANY)                                            \
  X(SerializeFMUState, FMU_ANY, FMU_ANY)                                                 \
  X(DeserializeFMUState, FMU_ANY, FMU_ANY)                                               \
  X(GetIntervalDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)  \
  X(GetIntervalFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT) \
  X(GetShiftDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)     \
  X(GetShiftFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)    \
  X(SetIntervalDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)  \
  X(SetIntervalFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT) \
  X(SetShiftDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)     \
  X(SetShiftFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)    \
  X(EvaluateDiscreteStates, FMU_EVENT, FMU_EVENT)                                        \
  X(UpdateDiscreteStates, FMU_EVENT, FMU_EVENT)                                          \
  X(EnterContinuousTimeMode, FMU_EVENT, 0)                                               \
  X(CompletedIntegratorStep, FMU_CONTINUOUS, 0)                                          \
  X(SetTime, EVENT_OR_CONTINUOUS, 0)                                                     \
  X(SetContinuousStates, FMU_CONTINUOUS, 0)                                              \
  X(GetContinuousStateDerivatives, CONTINUOUS_READABLE, 0)                               \
  X(GetEventIndicators, CONTINUOUS_READABLE, 0)                                          \
  X(GetContinuousStates, CONTINUOUS_READABLE, 0)                                         \
  X(GetNominalsOfContinuousStates, FMU_ANY, 0)                                           \
  X(GetNumberOfEventIndicators, FMU_ANY, 0)                                              \
  X(GetNumberOfContinuousStates, FMU_ANY, 0)                                             \
  X(EnterStepMode, 0, FMU_EVENT)                                                         \
  X(GetOutputDerivatives, 0, FMU_STEP | FMU_INTERMEDIATE | FMU_TERMINATED)               \
  X(DoStep, 0, FMU_STEP)                                                                 \
  X(ActivateModelPartition, 0, 0)

#define X(name, model_exchange, co_simulation) CALL_##name,
enum { FMI3_CALLS(X) };
#undef X
extern const fmu_call fmi3_calls[];
fmu_log fmi3_log(const char *function, fmi3String name, fmi3Boolean on, fmi3InstanceEnvironment environment,
                 fmi3LogMessageCallback callback);

#define BEGIN(name)                                     \
  fmu *f = fmu_begin_call(c, &fmi3_calls[CALL_##name]); \
  if (!f) return fmi3Error
#define NEED(pointer)                                                                                         \
  if (!(pointer)) return (fmi3Status)fmu_log_message(&f->log, FMU_ERROR, "the argument " #pointer " is NULL")
#define NEED_SIZE(n, expected) \
  if ((n) != (expected)) return (fmi3Status)fmu_log_message(&f->log, FMU_ERROR, #n " is %zu, not %zu", (n), (expected))
/* Takes arrays apart: afterwards `refs` are `n` references of as many numbers. */
#define EXPAND_ARRAYS(which, refs, n, n_values)                                                       \
  do {                                                                                                \
    const fmu_status taken = fmu_expand_arrays(f, which, (const uint32_t **)&(refs), &(n), n_values); \
    if (taken != FMU_OK) return (fmi3Status)taken;                                                    \
  } while (0)
#define RETURN(status) return (fmi3Status)(status)
#endif
