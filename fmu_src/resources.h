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

/* Not with embedded resources: the path of a file in the folder, and the content of a file, with space for one more byte, in
 * new memory; NULL: there is none. */
char *fmu_resource_path(const char *folder, const char *file);
unsigned char *fmu_read_file(const char *path, size_t *size);
#ifdef _WIN32
wchar_t *fmu_wide_path(const char *path); /* of one in UTF-8, which functions of C do not accept on Windows */
#endif

/* The instantiation token: CRC-32, Adler-32 and size of both resources in sequence. */
void fmu_make_token(const fmu_resources *resources, char token[FMU_TOKEN_SIZE]);
#endif
