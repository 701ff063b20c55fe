/* Bytes that grow. Each call that fails has set an exception. */

#ifndef FORAGER_GROWING_H
#define FORAGER_GROWING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char Byte;

typedef struct {
    Byte *bytes;
    Py_ssize_t used, size;
} Buffer;

static int buffer_grow(Buffer *buffer, Py_ssize_t more)
{
    if (more > PY_SSIZE_T_MAX / 4 - buffer->used) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t size = buffer->size ? buffer->size : 4096;
    while (size < buffer->used + more)
        size *= 2;
    Byte *bytes = PyMem_Realloc(buffer->bytes, (size_t)size);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->bytes = bytes;
    buffer->size = size;
    return 0;
}

static inline int buffer_add(Buffer *buffer, const void *bytes, Py_ssize_t length)
{
    if (length == 0)
        return 0;
    if (buffer->used + length > buffer->size && buffer_grow(buffer, length) < 0)
        return -1;
    memcpy(buffer->bytes + buffer->used, bytes, (size_t)length);
    buffer->used += length;
    return 0;
}

#endif
