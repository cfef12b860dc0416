/* Runs an ahead-of-time program on bytes from a file. Arguments: file of inputs, file for outputs.
 * Inputs: 64-bit numbers (repeats, bytes of workspace, number of inputs, size of each, number of outputs, size of each), then the bytes.
 * Outputs: nanoseconds of each run as 64-bit numbers, then the bytes of each output. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int xe_module_run(const void *const *inputs, void *const *outputs, void *workspace);

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(100);
}

static int64_t number(FILE *file) {
  int64_t value;
  if (fread(&value, 8, 1, file) != 1) fail("the file of inputs is too short");
  return value;
}

static void *memory(int64_t size) {
  void *found = NULL;
  if (posix_memalign(&found, 64, size > 0 ? (size_t)size : 1)) fail("out of memory");
  return found;
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: program INPUTS OUTPUTS");
  FILE *file = fopen(arguments[1], "rb");
  if (!file) fail("cannot open the file of inputs");
  int64_t repeats = number(file), workspace_size = number(file);
  int64_t inputs_count = number(file);
  int64_t *input_sizes = memory(8 * inputs_count);
  for (int64_t k = 0; k < inputs_count; k++) input_sizes[k] = number(file);
  int64_t outputs_count = number(file);
  int64_t *output_sizes = memory(8 * outputs_count);
  for (int64_t k = 0; k < outputs_count; k++) output_sizes[k] = number(file);
  const void **inputs = memory((int64_t)sizeof(void *) * inputs_count);
  void **outputs = memory((int64_t)sizeof(void *) * outputs_count);
  for (int64_t k = 0; k < inputs_count; k++) {
    void *bytes = memory(input_sizes[k]);
    if (input_sizes[k] && fread(bytes, (size_t)input_sizes[k], 1, file) != 1) fail("the file of inputs is too short");
    inputs[k] = bytes;
  }
  fclose(file);
  for (int64_t k = 0; k < outputs_count; k++) outputs[k] = memory(output_sizes[k]);
  void *workspace = memory(workspace_size);
  int64_t *times = memory(8 * repeats);
  for (int64_t k = 0; k < repeats; k++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int status = xe_module_run(inputs, outputs, workspace);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (status) return status;
    times[k] = (int64_t)(end.tv_sec - start.tv_sec) * 1000000000 + (end.tv_nsec - start.tv_nsec);
  }
  file = fopen(arguments[2], "wb");
  if (!file) fail("cannot open the file for outputs");
  fwrite(times, 8, (size_t)repeats, file);
  for (int64_t k = 0; k < outputs_count; k++)
    if (output_sizes[k]) fwrite(outputs[k], (size_t)output_sizes[k], 1, file);
  return fclose(file) ? 101 : 0;
}
