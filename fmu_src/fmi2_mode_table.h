/* FMI 2.0: the modes in which each function may be called. */
#ifndef LINKWORK_FMI2_MODE_TABLE_H
#define LINKWORK_FMI2_MODE_TABLE_H
#include "calls.h"
#include "fmi2.h"

#define FMI(name) fmi2##name
#define FMI_PREFIX "fmi2"

/* X(function, modes in Model Exchange, modes in Co-Simulation) */
#define FMI_CALLS(X)                                                                           \
  X(SetDebugLogging, FMU_ANY, FMU_ANY)                                                         \
  X(SetupExperiment, FMU_INSTANTIATED, FMU_INSTANTIATED)                                       \
  X(EnterInitializationMode, FMU_INSTANTIATED, FMU_INSTANTIATED)                               \
  X(ExitInitializationMode, FMU_INITIALIZATION, FMU_INITIALIZATION)                            \
  X(Terminate, EVENT_OR_CONTINUOUS, FMU_STEP)                                                  \
  X(Reset, FMU_ANY, FMU_ANY)                                                                   \
  X(GetReal, READABLE, READABLE)                                                               \
  X(GetInteger, READABLE, READABLE)                                                            \
  X(GetBoolean, READABLE, READABLE)                                                            \
  X(GetString, READABLE, READABLE)                                                             \
  X(SetReal, SETTABLE, SETTABLE)                                                               \
  X(SetInteger, SETTABLE_DISCRETE, SETTABLE)                                                   \
  X(SetBoolean, SETTABLE_OR_KEPT, SETTABLE)                                                    \
  X(SetString, SETTABLE_DISCRETE, SETTABLE)                                                    \
  X(GetFMUstate, FMU_ANY, FMU_ANY)                                                             \
  X(SetFMUstate, FMU_ANY, FMU_ANY)                                                             \
  X(FreeFMUstate, FMU_ANY, FMU_ANY)                                                            \
  X(SerializedFMUstateSize, FMU_ANY, FMU_ANY)                                                  \
  X(SerializeFMUstate, FMU_ANY, FMU_ANY)                                                       \
  X(DeSerializeFMUstate, FMU_ANY, FMU_ANY)                                                     \
  X(GetDirectionalDerivative, READABLE, READABLE)                                              \
  X(EnterEventMode, EVENT_OR_CONTINUOUS, 0)                                                    \
  X(NewDiscreteStates, FMU_EVENT, 0)                                                           \
  X(EnterContinuousTimeMode, FMU_EVENT, 0)                                                     \
  X(CompletedIntegratorStep, FMU_CONTINUOUS, 0)                                                \
  X(SetTime, EVENT_OR_CONTINUOUS, 0)                                                           \
  X(SetContinuousStates, FMU_CONTINUOUS, 0)                                                    \
  X(GetDerivatives, EVENT_OR_CONTINUOUS | FMU_TERMINATED, 0)                                   \
  X(GetEventIndicators, READABLE, 0)                                                           \
  X(GetContinuousStates, READABLE, 0)                                                          \
  X(GetNominalsOfContinuousStates, FMU_INSTANTIATED | EVENT_OR_CONTINUOUS | FMU_TERMINATED, 0) \
  X(SetRealInputDerivatives, 0, BEFORE_SIMULATION | FMU_STEP)                                  \
  X(GetRealOutputDerivatives, 0, FMU_STEP | FMU_TERMINATED)                                    \
  X(DoStep, 0, FMU_STEP)                                                                       \
  X(CancelStep, 0, 0)                                                                          \
  X(GetStatus, 0, FMU_STEP | FMU_TERMINATED)                                                   \
  X(GetRealStatus, 0, FMU_STEP | FMU_TERMINATED)                                               \
  X(GetIntegerStatus, 0, FMU_STEP | FMU_TERMINATED)                                            \
  X(GetBooleanStatus, 0, FMU_STEP | FMU_TERMINATED)                                            \
  X(GetStringStatus, 0, FMU_STEP | FMU_TERMINATED)

DECLARE_CALL_TABLE;
#endif
