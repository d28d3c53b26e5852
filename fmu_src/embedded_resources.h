/* The resources of an FMU that reads no files: compiled in where LINKWORK_EMBEDDED is defined. */
#ifndef LINKWORK_EMBEDDED_H
#define LINKWORK_EMBEDDED_H
#include <stddef.h>

extern const unsigned char linkwork_model[], linkwork_interface[];
extern const size_t linkwork_model_size, linkwork_interface_size;
extern const struct lw_rates_library *const linkwork_compiled_rates; /* NULL: there are none */
#endif
