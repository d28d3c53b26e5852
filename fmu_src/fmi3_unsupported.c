/* FMI 3.0 functions for features that no model has: other variable types, clocks, model partitions. They are exported, obey the mode table and log which feature is missing. */
#include "fmi3_mode_table.h"

#define NO_VARIABLES(Type)                                                                                       \
  fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3##Type values[],       \
                           size_t n_values) {                                                                    \
    (void)refs, (void)values, (void)n_values;                                                                    \
    BEGIN(Get##Type);                                                                                            \
    RETURN(fmu_refuse_type(f, #Type, n));                                                                        \
  }                                                                                                              \
  fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3##Type values[], \
                           size_t n_values) {                                                                    \
    (void)refs, (void)values, (void)n_values;                                                                    \
    BEGIN(Set##Type);                                                                                            \
    RETURN(fmu_refuse_type(f, #Type, n));                                                                        \
  }
NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(UInt32)
NO_VARIABLES(UInt64)
NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t n_values) {
  (void)refs, (void)sizes, (void)values, (void)n_values;
  BEGIN(GetBinary);
  RETURN(fmu_refuse_type(f, "Binary", n));
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values) {
  (void)refs, (void)sizes, (void)values, (void)n_values;
  BEGIN(SetBinary);
  RETURN(fmu_refuse_type(f, "Binary", n));
}

/* ---- clocks ------------------------------------------------------------------------------------------ */

#define NO_CLOCKS_1(Name, A)                                                                \
  fmi3Status fmi3##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, A a[]) { \
    (void)refs, (void)a;                                                                    \
    BEGIN(Name);                                                                            \
    RETURN(fmu_refuse_type(f, "Clock", n));                                                 \
  }
#define NO_CLOCKS_2(Name, A, B)                                                                    \
  fmi3Status fmi3##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, A a[], B b[]) { \
    (void)refs, (void)a, (void)b;                                                                  \
    BEGIN(Name);                                                                                   \
    RETURN(fmu_refuse_type(f, "Clock", n));                                                        \
  }
NO_CLOCKS_1(GetClock, fmi3Clock)
NO_CLOCKS_1(SetClock, const fmi3Clock)
NO_CLOCKS_1(GetShiftDecimal, fmi3Float64)
NO_CLOCKS_1(SetShiftDecimal, const fmi3Float64)
NO_CLOCKS_1(SetIntervalDecimal, const fmi3Float64)
NO_CLOCKS_2(GetIntervalDecimal, fmi3Float64, fmi3IntervalQualifier)
NO_CLOCKS_2(GetShiftFraction, fmi3UInt64, fmi3UInt64)
NO_CLOCKS_2(SetShiftFraction, const fmi3UInt64, const fmi3UInt64)
NO_CLOCKS_2(SetIntervalFraction, const fmi3UInt64, const fmi3UInt64)

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3UInt64 counters[],
                                   fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]) {
  (void)refs, (void)counters, (void)resolutions, (void)qualifiers;
  BEGIN(GetIntervalFraction);
  RETURN(fmu_refuse_type(f, "Clock", n));
}

/* ---- modes ------------------------------------------------------------------------------------------- */

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock) {
  (void)token, (void)resources, (void)visible, (void)clock_update, (void)lock, (void)unlock;
  const fmu_log to = fmi3_log("fmi3InstantiateScheduledExecution", name, logging, environment, log);
  fmu_log_message(&to, FMU_ERROR, "this FMU offers Model Exchange and Co-Simulation only");
  return NULL;
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time) {
  (void)clock, (void)time;
  BEGIN(ActivateModelPartition); /* no mode allows this call */
  return fmi3OK;
}
