/* Log messages in the categories of the standard, those alone that the importer has asked for. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

static const struct {
  const char *name;
  uint32_t bits;
} categories[] = {
    {"logEvents", FMU_LOG_EVENTS},
    {"logStatusWarning", FMU_LOG_WARNING},
    {"logStatusDiscard", FMU_LOG_DISCARD},
    {"logStatusError", FMU_LOG_ERROR},
    {"logAll", FMU_LOG_ALL},
};
enum { N_CATEGORIES = sizeof categories / sizeof *categories };

static size_t category_of(fmu_status status) {
  switch (status) {
    case FMU_OK: return 0;
    case FMU_WARNING: return 1;
    case FMU_DISCARD: return 2;
    case FMU_ERROR:
    case FMU_FATAL: return 3;
  }
  return 3;
}

fmu_status fmu_log_message(const fmu_log *log, fmu_status status, const char *format, ...) {
  const size_t category = category_of(status);
  if (!log->callback || (status == FMU_OK && !(log->enabled & categories[category].bits))) return status;
  char text[2048];
  const int used = log->function ? snprintf(text, sizeof text, "%s: ", log->function) : 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
  va_end(arguments);
  log->write(log, status, categories[category].name, text);
  return status;
}

fmu_status fmu_set_logging(fmu_log *log, int on, size_t n, const char *const names[]) {
  uint32_t enabled = n ? 0 : FMU_LOG_ALL;
  if (n && !names) return fmu_log_message(log, FMU_ERROR, "the list of categories is NULL");
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (k < N_CATEGORIES && names[i] && strcmp(names[i], categories[k].name) != 0) k++;
    if (k == N_CATEGORIES || !names[i])
      return fmu_log_message(log, FMU_ERROR, "unknown log category '%s'", names[i] ? names[i] : "NULL");
    enabled |= categories[k].bits;
  }
  log->enabled = on ? enabled : 0;
  return FMU_OK;
}
