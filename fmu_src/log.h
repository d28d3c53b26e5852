/* Status of calls, and log messages to the importer. */
#ifndef LINKWORK_LOG_H
#define LINKWORK_LOG_H
#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define FMU_PRINTF __attribute__((format(printf, 3, 4)))
#else
#define FMU_PRINTF
#endif

/* Values as in fmi2Status and fmi3Status. */
typedef enum fmu_status { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL } fmu_status;

typedef enum fmu_category {
  FMU_LOG_EVENTS = 1, /* mode changes and events; only if logging is on */
  FMU_LOG_WARNING = 2,
  FMU_LOG_DISCARD = 4,
  FMU_LOG_ERROR = 8,
  FMU_LOG_ALL = 15
} fmu_category;

typedef struct fmu_log {
  /* Passes a line to the importer's logger. The logger may be NULL. */
  void (*write)(const struct fmu_log *log, fmu_status status, const char *category, const char *text);
  void (*callback)(void); /* `write` casts it back to its type */
  void *environment;
  const char *instance_name;
  uint32_t enabled;     /* fmu_category bits; failures are always logged */
  const char *function; /* the current FMI function, the beginning of every line */
} fmu_log;

/* Logs a message and returns `status`. */
fmu_status fmu_log_message(const fmu_log *log, fmu_status status, const char *format, ...) FMU_PRINTF;
fmu_status fmu_set_logging(fmu_log *log, int on, size_t n, const char *const categories[]);
#endif
