/* FMI modes: the mode in which an instance is, the modes in which a function may be called, and the life cycle. */
#ifndef LINKWORK_MODES_H
#define LINKWORK_MODES_H
#include "log.h"

typedef struct fmu fmu;

/* Interface types. */
typedef enum fmu_kind { FMU_MODEL_EXCHANGE, FMU_CO_SIMULATION } fmu_kind;

typedef enum fmu_mode {
  FMU_INSTANTIATED = 1,
  FMU_INITIALIZATION = 2,
  FMU_EVENT = 4,
  FMU_CONTINUOUS = 8, /* Model Exchange only */
  FMU_STEP = 16,      /* Co-Simulation only */
  FMU_TERMINATED = 32,
  FMU_INTERMEDIATE = 64,  /* during the intermediateUpdate callback */
  FMU_CONFIGURATION = 128 /* FMI 3.0 only, of FMUs with DAE mode */
} fmu_mode;
#define FMU_INITIALIZED (FMU_EVENT | FMU_CONTINUOUS | FMU_STEP)
#define FMU_ANY (FMU_INSTANTIATED | FMU_INITIALIZATION | FMU_INITIALIZED | FMU_TERMINATED)

/* A row of the mode table: the modes in which a function may be called, for each interface type. */
typedef struct fmu_call {
  const char *name;
  uint32_t modes[2]; /* by fmu_kind */
} fmu_call;

/* Begins every FMI call. Returns the instance, or NULL after logging that the mode does not allow the call. */
fmu *fmu_begin_call(void *instance, const fmu_call *call);

/* The life cycle: changes of mode. */
fmu_status fmu_set_up_experiment(fmu *f, int tolerance_defined, double tolerance, double start, int stop_defined,
                                 double stop);
fmu_status fmu_enter_mode(fmu *f, fmu_mode mode);
fmu_status fmu_exit_initialization(fmu *f);
fmu_status fmu_reset(fmu *f);
#endif
