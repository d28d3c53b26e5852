/* FMI 3.0: the modes in which each function may be called. */
#ifndef LINKWORK_FMI3_MODE_TABLE_H
#define LINKWORK_FMI3_MODE_TABLE_H
#include "calls.h"
#include "fmi3.h"

#define FMI(name) fmi3##name
#define FMI_PREFIX "fmi3"

#define CONTINUOUS_READABLE (FMU_INITIALIZATION | EVENT_OR_CONTINUOUS | FMU_TERMINATED)
#define CONFIGURABLE (FMU_INSTANTIATED | FMU_EVENT | FMU_STEP)
#define ANY_OR_INTERMEDIATE (FMU_ANY | FMU_INTERMEDIATE)
#define ANY_OR_CONFIGURATION (FMU_ANY | FMU_CONFIGURATION)

/* X(function, modes in Model Exchange, modes in Co-Simulation) */
#define TYPED_CALLS(X, Type)                                    \
  X(Get##Type, FMU_ANY, ANY_OR_INTERMEDIATE)                    \
  X(Set##Type, SETTABLE_DISCRETE, SETTABLE_DISCRETE | FMU_STEP)

#define FMI_CALLS(X)                                                                                    \
  X(SetDebugLogging, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION | FMU_INTERMEDIATE)                     \
  X(EnterInitializationMode, FMU_INSTANTIATED, FMU_INSTANTIATED)                                        \
  X(ExitInitializationMode, FMU_INITIALIZATION, FMU_INITIALIZATION)                                     \
  X(EnterEventMode, FMU_CONTINUOUS, FMU_STEP)                                                           \
  X(Terminate, EVENT_OR_CONTINUOUS, FMU_EVENT | FMU_STEP)                                               \
  X(Reset, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                                  \
  X(EnterConfigurationMode, CONFIGURABLE, CONFIGURABLE)                                                 \
  X(ExitConfigurationMode, FMU_CONFIGURATION, FMU_CONFIGURATION)                                        \
  X(GetFloat32, FMU_ANY, ANY_OR_INTERMEDIATE)                                                           \
  X(SetFloat32, SETTABLE, SETTABLE | FMU_INTERMEDIATE)                                                  \
  X(GetFloat64, FMU_ANY, ANY_OR_INTERMEDIATE)                                                           \
  X(SetFloat64, SETTABLE, SETTABLE | FMU_INTERMEDIATE)                                                  \
  TYPED_CALLS(X, Int8)                                                                                  \
  TYPED_CALLS(X, UInt8)                                                                                 \
  TYPED_CALLS(X, Int16)                                                                                 \
  TYPED_CALLS(X, UInt16)                                                                                \
  TYPED_CALLS(X, Int32)                                                                                 \
  TYPED_CALLS(X, UInt32)                                                                                \
  TYPED_CALLS(X, Int64)                                                                                 \
  TYPED_CALLS(X, UInt64)                                                                                \
  X(GetBoolean, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION | FMU_INTERMEDIATE)                          \
  X(SetBoolean, SETTABLE_OR_KEPT | FMU_CONFIGURATION, SETTABLE_DISCRETE | FMU_STEP | FMU_CONFIGURATION) \
  TYPED_CALLS(X, String)                                                                                \
  TYPED_CALLS(X, Binary)                                                                                \
  X(GetClock, FMU_EVENT, FMU_EVENT)                                                                     \
  X(SetClock, FMU_EVENT, FMU_EVENT)                                                                     \
  X(GetNumberOfVariableDependencies, READABLE, READABLE)                                                \
  X(GetVariableDependencies, READABLE, READABLE)                                                        \
  X(GetDirectionalDerivative, READABLE, READABLE)                                                       \
  X(GetAdjointDerivative, READABLE, READABLE)                                                           \
  X(GetFMUState, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                            \
  X(SetFMUState, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                            \
  X(FreeFMUState, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                           \
  X(SerializedFMUStateSize, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                 \
  X(SerializeFMUState, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                      \
  X(DeserializeFMUState, ANY_OR_CONFIGURATION, ANY_OR_CONFIGURATION)                                    \
  X(GetIntervalDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                 \
  X(GetIntervalFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                \
  X(GetShiftDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                    \
  X(GetShiftFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                   \
  X(SetIntervalDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                 \
  X(SetIntervalFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                \
  X(SetShiftDecimal, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                    \
  X(SetShiftFraction, FMU_INITIALIZATION | FMU_EVENT, FMU_INITIALIZATION | FMU_EVENT)                   \
  X(EvaluateDiscreteStates, FMU_EVENT, FMU_EVENT)                                                       \
  X(UpdateDiscreteStates, FMU_EVENT, FMU_EVENT)                                                         \
  X(EnterContinuousTimeMode, FMU_EVENT, 0)                                                              \
  X(CompletedIntegratorStep, FMU_CONTINUOUS, 0)                                                         \
  X(SetTime, EVENT_OR_CONTINUOUS, 0)                                                                    \
  X(SetContinuousStates, FMU_CONTINUOUS, 0)                                                             \
  X(GetContinuousStateDerivatives, CONTINUOUS_READABLE, 0)                                              \
  X(GetEventIndicators, CONTINUOUS_READABLE, 0)                                                         \
  X(GetContinuousStates, CONTINUOUS_READABLE, 0)                                                        \
  X(GetNominalsOfContinuousStates, FMU_ANY, 0)                                                          \
  X(GetNumberOfEventIndicators, FMU_ANY, 0)                                                             \
  X(GetNumberOfContinuousStates, FMU_ANY, 0)                                                            \
  X(EnterStepMode, 0, FMU_EVENT)                                                                        \
  X(GetOutputDerivatives, 0, FMU_STEP | FMU_INTERMEDIATE | FMU_TERMINATED)                              \
  X(DoStep, 0, FMU_STEP)                                                                                \
  X(ActivateModelPartition, 0, 0)

DECLARE_CALL_TABLE;

fmu_log fmi3_log(const char *function, fmi3String name, fmi3Boolean on, fmi3InstanceEnvironment environment,
                 fmi3LogMessageCallback callback);
#endif
