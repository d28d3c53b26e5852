/* The resources folder of an FMU: model and interface file, and the token that identifies them. */
#ifndef LINKWORK_RESOURCES_H
#define LINKWORK_RESOURCES_H
#include "log.h"

#define FMU_TOKEN_SIZE 40 /* "{8-4-4-4-12}" in hexadecimal digits and the terminating 0 */

typedef struct fmu_resources {
  const unsigned char *model, *interface;
  size_t model_size, interface_size;
  unsigned char *allocated[2]; /* memory to free */
} fmu_resources;

/* Reads the resources folder, a path or a file: URI, or takes the embedded resources. Returns 0 after logging an
 * error. */
int fmu_open_resources(const fmu_log *log, const char *folder, fmu_resources *resources);
void fmu_close_resources(fmu_resources *resources);
/* The instantiation token: CRC-32, Adler-32 and size of both resources in sequence. */
void fmu_make_token(const fmu_resources *resources, char token[FMU_TOKEN_SIZE]);
#endif
