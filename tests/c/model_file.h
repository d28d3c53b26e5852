/* Reads a serialised model from disk. */
#ifndef LW_TEST_MODEL_FILE_H
#define LW_TEST_MODEL_FILE_H
#include <stdio.h>
#include <stdlib.h>

/* Returns the bytes of a file, to be freed; NULL if it cannot be read. */
static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  unsigned char *bytes = NULL;
  *size = 0;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long end = ftell(file);
    rewind(file);
    if (end > 0 && (bytes = malloc((size_t)end))) *size = fread(bytes, 1, (size_t)end, file);
  }
  fclose(file);
  return bytes;
}
#endif
