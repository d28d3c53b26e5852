/* The file of a controller, resources/model.lwm: little-endian words of 32 bits and doubles of 64 bits.
 *
 * The magic; the length of the law's name and the name; the number of sizes and the sizes; the number of variables and
 * of each one type, role, start value, length of its name and the name; the number of further numbers and the numbers.
 * linkwork/controllers/native/file.py writes it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller.h"

static const unsigned char magic[8] = {'L', 'W', 'C', 'T', 'R', 'L', '0', '1'};
enum { WORD = 4, NUMBER = 8, VARIABLE = 3 * WORD + NUMBER, LONGEST_NAME = 30 };

int controller_is_file(const unsigned char *bytes, size_t size) {
  return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- a cursor over the bytes ---------------------------------------------------------------------------------- */

typedef struct cursor {
  const unsigned char *at, *end;
  const char *error; /* NULL: no error */
} cursor;

static const unsigned char *next_bytes(cursor *c, size_t n) {
  if (n > (size_t)(c->end - c->at)) {
    c->error = "it is truncated";
    return NULL;
  }
  c->at += n;
  return c->at - n;
}

static uint32_t next_word(cursor *c) {
  const unsigned char *b = c->error ? NULL : next_bytes(c, WORD);
  return b ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

static double next_number(cursor *c) {
  const uint64_t low = next_word(c), high = next_word(c), bits = high << 32 | low;
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* The number of entries that follow, of at least `least` bytes each: no more than the file has. */
static uint32_t next_count(cursor *c, size_t least) {
  const uint32_t n = next_word(c);
  if (!c->error && n > (size_t)(c->end - c->at) / least) c->error = "it is truncated";
  return c->error ? 0 : n;
}

static void *allocate(cursor *c, size_t n, size_t size) {
  void *memory = c->error ? NULL : calloc(n + 1, size);
  if (!memory && !c->error) c->error = "out of memory";
  return memory;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static const controller_type *read_type(cursor *c) {
  const uint32_t n = next_word(c);
  const unsigned char *name = c->error ? NULL : next_bytes(c, n);
  for (const controller_type *const *type = controller_types; name && *type; type++)
    if (strlen((*type)->name) == n && memcmp((*type)->name, name, n) == 0) return *type;
  if (!c->error) c->error = "it is of a controller that this library does not have";
  return NULL;
}

static void check_variable(cursor *c, const controller_variable *v) {
  const int real = v->value == CONTROLLER_REAL,
            whole = v->value == CONTROLLER_BOOLEAN || v->value == CONTROLLER_INTEGER;
  if (!real && !whole) c->error = "a variable has no known type";
  else if (v->role < CONTROLLER_INPUT || v->role > CONTROLLER_TUNABLE) c->error = "a variable has no known role";
  else if (real ? isnan(v->start) : v->start != 0 && v->start != 1) c->error = "a start value is not allowed";
}

/* Names have no more bytes than the file. */
static void read_variables(cursor *c, controller_model *model) {
  const uint32_t n = next_count(c, VARIABLE);
  model->variables = allocate(c, n, sizeof *model->variables);
  model->names = allocate(c, (size_t)(c->end - c->at) + n, 1);
  char *to = model->names;
  for (uint32_t i = 0; i < n && !c->error; i++) {
    controller_variable *v = &model->variables[i];
    v->value = next_word(c);
    v->role = next_word(c);
    v->start = next_number(c);
    const uint32_t length = next_word(c);
    const unsigned char *name = c->error ? NULL : next_bytes(c, length);
    if (!name) return;
    memcpy(to, name, length);
    v->name = to;
    to += length + 1;
    check_variable(c, v);
  }
  if (!c->error) model->n_variables = n;
}

static void read_model(cursor *c, controller_model *model) {
  model->type = read_type(c);
  model->n_sizes = next_count(c, WORD);
  model->sizes = allocate(c, model->n_sizes, sizeof *model->sizes);
  for (uint32_t i = 0; i < model->n_sizes && !c->error; i++) model->sizes[i] = next_word(c);
  if (!c->error) read_variables(c, model);
  model->n_numbers = next_count(c, NUMBER);
  model->numbers = allocate(c, model->n_numbers, sizeof *model->numbers);
  for (uint32_t i = 0; i < model->n_numbers && !c->error; i++) model->numbers[i] = next_number(c);
  if (!c->error && c->at != c->end) c->error = "data follow its end";
}

static int bind(controller_model *model, char message[CONTROLLER_MESSAGE]) {
  controller_binding b = {.model = model, .message = message};
  model->sample_time = CONTROLLER_NONE;
  if (model->type->n_sizes != UINT32_MAX && model->n_sizes != model->type->n_sizes)
    controller_refuse(&b, "it has the wrong number of sizes");
  if (!b.failed) model->type->bind(&b);
  if (!b.failed && b.next != model->n_variables) controller_refuse(&b, "it has more variables than its controller");
  if (!b.failed && b.next_number != model->n_numbers) controller_refuse(&b, "it has more numbers than its controller");
  return !b.failed;
}

int controller_read(controller_model *model, const unsigned char *bytes, size_t size,
                    char message[CONTROLLER_MESSAGE]) {
  memset(model, 0, sizeof *model);
  if (!controller_is_file(bytes, size)) {
    snprintf(message, CONTROLLER_MESSAGE, "it is not the file of a controller of this version");
    return 0;
  }
  cursor c = {bytes + sizeof magic, bytes + size, NULL};
  read_model(&c, model);
  if (c.error) snprintf(message, CONTROLLER_MESSAGE, "%s", c.error);
  return !c.error && bind(model, message);
}

void controller_model_free(controller_model *model) {
  free(model->sizes);
  free(model->variables);
  free(model->numbers);
  free(model->names);
}

/* ---- binding ------------------------------------------------------------------------------------------------------ */

void controller_refuse(controller_binding *b, const char *why) {
  if (!b->failed) snprintf(b->message, CONTROLLER_MESSAGE, "%.20s: %.170s", b->model->type->name, why);
  b->failed = 1;
}

static const controller_variable *next_variable(const controller_binding *b) {
  return !b->failed && b->next < b->model->n_variables ? &b->model->variables[b->next] : NULL;
}

uint32_t controller_take(controller_binding *b, const char *name, controller_role role, controller_value value) {
  const controller_variable *v = next_variable(b);
  if (v && (!name || strcmp(v->name, name) == 0) && v->role == (uint32_t)role && v->value == (uint32_t)value)
    return b->next++;
  char why[170];
  if (v)
    snprintf(why, sizeof why, "variable %u is '%.*s', not '%.*s' as in this library, or has another role or type",
             (unsigned)b->next, LONGEST_NAME, v->name, LONGEST_NAME, name ? name : "one of the user's");
  else snprintf(why, sizeof why, "the variable '%.*s' is missing", LONGEST_NAME, name ? name : "of the user");
  controller_refuse(b, why);
  return 0;
}

int controller_take_if_input(controller_binding *b, controller_value value) {
  const controller_variable *v = next_variable(b);
  if (!v || v->role != CONTROLLER_INPUT || v->value != (uint32_t)value) return 0;
  b->next++;
  return 1;
}

uint32_t controller_size(controller_binding *b, uint32_t i, uint32_t least) {
  const uint32_t size = i < b->model->n_sizes ? b->model->sizes[i] : 0;
  if (i >= b->model->n_sizes || size < least) controller_refuse(b, "a size is missing or too small");
  return b->failed ? 0 : size;
}

size_t controller_take_numbers(controller_binding *b, uint64_t rows, uint64_t columns, controller_numbers kind) {
  const uint64_t first = b->next_number, left = b->failed ? 0 : b->model->n_numbers - first;
  if (columns && rows > left / columns) {
    controller_refuse(b, "numbers are missing");
    return 0;
  }
  const double *x = b->model->numbers + first;
  for (uint64_t i = 0; i < rows * columns; i++) {
    if (!isfinite(x[i])) controller_refuse(b, "a number is not finite");
    else if (kind == CONTROLLER_POSITIVE && !(x[i] > 0)) controller_refuse(b, "a number is not positive");
    else if (kind == CONTROLLER_ASCENDING && i && x[i] < x[i - 1]) controller_refuse(b, "numbers are not ascending");
  }
  b->next_number = first + rows * columns;
  return (size_t)first;
}
