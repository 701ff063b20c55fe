/* The memory of known pages: flat slots in segments that are bytearrays. What is where is told in known_table.py. */

#ifndef FORAGER_FRONTIER_KNOWN_H
#define FORAGER_FRONTIER_KNOWN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Of known_table.py. */
#define KEY 16
#define SLOT (KEY + 8)
#define WAYS 16
#define BUCKET (WAYS * SLOT)
#define SEGMENTS 256

/* Eight bytes as a number, the highest first. */
static uint64_t
number_at(const unsigned char *bytes)
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 | (uint64_t)bytes[3] << 32
           | (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 | (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

static void
write_number(unsigned char *bytes, uint64_t number)
{
    for (int i = 7; i >= 0; i--, number >>= 8) {
        bytes[i] = (unsigned char)number;
    }
}

static int
are_segments(PyObject *segments)
{
    if (!PyList_Check(segments) || PyList_GET_SIZE(segments) != SEGMENTS) {
        PyErr_SetString(PyExc_TypeError, "segments are a list of 256");
        return 0;
    }
    return 1;
}

/* The segment of a key, borrowed; NULL where it is none. */
static PyObject *
segment_of(PyObject *segments, const unsigned char *key)
{
    PyObject *segment = PyList_GET_ITEM(segments, key[0]);
    if (!PyByteArray_Check(segment) || PyByteArray_GET_SIZE(segment) < SLOT + BUCKET
        || (PyByteArray_GET_SIZE(segment) - SLOT) % BUCKET) {
        PyErr_SetString(PyExc_TypeError, "a segment is a bytearray of whole buckets");
        return NULL;
    }
    return segment;
}

static size_t
buckets_of(PyObject *segment)
{
    return (size_t)(PyByteArray_GET_SIZE(segment) - SLOT) / BUCKET;
}

static unsigned char *
start_of(PyObject *segment)
{
    return (unsigned char *)PyByteArray_AS_STRING(segment);
}

static unsigned char *
bucket_of(PyObject *segment, const unsigned char *key)
{
    return start_of(segment) + SLOT + number_at(key + 1) % buckets_of(segment) * BUCKET;
}

/* Have the processor fetch the slots in which a key is most likely found. */
static void
expect_key(PyObject *segments, const unsigned char *key)
{
#if defined(__GNUC__)
    PyObject *segment = PyList_GET_ITEM(segments, key[0]);
    if (PyByteArray_Check(segment) && PyByteArray_GET_SIZE(segment) >= SLOT + BUCKET) {
        const unsigned char *bucket = bucket_of(segment, key);
        __builtin_prefetch(bucket);
        __builtin_prefetch(bucket + 64);
        __builtin_prefetch(bucket + 128);
    }
#else
    (void)segments, (void)key;
#endif
}

/* A key's slot, or NULL. Free slots come last. */
static unsigned char *
slot_of(unsigned char *bucket, const unsigned char *key)
{
    for (unsigned char *slot = bucket; slot < bucket + BUCKET && number_at(slot + KEY) != 0; slot += SLOT) {
        if (memcmp(slot, key, KEY) == 0) {
            return slot;
        }
    }
    return NULL;
}

/* `entry` comes first in its bucket; what was before `slot`, which it takes the place of, comes after it. */
static void
put_first(unsigned char *bucket, unsigned char *slot, const unsigned char *entry)
{
    unsigned char kept[SLOT];
    memcpy(kept, entry, SLOT);
    memmove(bucket + SLOT, bucket, (size_t)(slot - bucket));
    memcpy(bucket, kept, SLOT);
}

/* What is packed under a key; 0: nothing. */
static uint64_t
look_up(PyObject *segment, const unsigned char *key)
{
    unsigned char *bucket = bucket_of(segment, key), *slot = slot_of(bucket, key);
    if (slot == NULL) {
        return 0;
    }
    if (slot > bucket) {
        put_first(bucket, slot, slot);
    }
    return number_at(bucket + KEY);
}

/* 1 if a slot more is taken. */
static int
put_entry(PyObject *segment, const unsigned char *entry)
{
    if (number_at(entry + KEY) == 0) {
        return 0;
    }
    unsigned char *bucket = bucket_of(segment, entry), *slot = slot_of(bucket, entry);
    unsigned char *last = bucket + BUCKET - SLOT;
    const int is_new = slot == NULL && number_at(last + KEY) == 0;
    put_first(bucket, slot == NULL ? last : slot, entry);
    if (is_new) {
        write_number(start_of(segment), number_at(start_of(segment)) + 1);
    }
    return is_new;
}

/* Twice as large, but not beyond so many buckets; a new bytearray, or NULL. */
static PyObject *
grown(PyObject *segment, size_t most_buckets)
{
    const size_t twice = 2 * buckets_of(segment), buckets = twice < most_buckets ? twice : most_buckets;
    if (buckets > (PY_SSIZE_T_MAX - SLOT) / BUCKET) {
        return PyErr_NoMemory();
    }
    PyObject *larger = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(SLOT + BUCKET * buckets));
    if (larger == NULL) {
        return NULL;
    }
    memset(start_of(larger), 0, SLOT + BUCKET * buckets);
    for (unsigned char *slot = start_of(segment) + PyByteArray_GET_SIZE(segment) - SLOT; slot > start_of(segment);
         slot -= SLOT) {
        put_entry(larger, slot);
    }
    return larger;
}

static int
grow_if_full(PyObject *segments, const unsigned char *key, size_t most_buckets)
{
    PyObject *segment = PyList_GET_ITEM(segments, key[0]);
    const size_t buckets = buckets_of(segment);
    if (buckets >= most_buckets || number_at(start_of(segment)) * 2 < buckets * WAYS) {
        return 0;
    }
    PyObject *larger = grown(segment, most_buckets);
    return larger == NULL ? -1 : PyList_SetItem(segments, key[0], larger);
}

PyDoc_STRVAR(put_known_doc, "put_known(segments, entries, most_buckets, /)\n--\n\nAs `known_table.put_known_in_python`.");

static PyObject *
put_known(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 3 || !PyBytes_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "put_known takes segments, bytes and a number");
        return NULL;
    }
    const Py_ssize_t most_buckets = PyLong_AsSsize_t(arguments[2]);
    if ((most_buckets < 0 && PyErr_Occurred()) || !are_segments(arguments[0])) {
        return NULL;
    }
    if (PyBytes_GET_SIZE(arguments[1]) % SLOT) {
        PyErr_SetString(PyExc_ValueError, "entries are 24 bytes each");
        return NULL;
    }
    const unsigned char *entry = (const unsigned char *)PyBytes_AS_STRING(arguments[1]);
    const unsigned char *end = entry + PyBytes_GET_SIZE(arguments[1]);
    for (; entry < end; entry += SLOT) {
        PyObject *segment = segment_of(arguments[0], entry);
        if (segment == NULL
            || (put_entry(segment, entry)
                && grow_if_full(arguments[0], entry, most_buckets < 0 ? 0 : (size_t)most_buckets) < 0)) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* The bytes of a key, or NULL. */
static const unsigned char *
key_bytes(PyObject *key)
{
    if (!PyBytes_Check(key) || PyBytes_GET_SIZE(key) != KEY) {
        PyErr_SetString(PyExc_TypeError, "a key is 16 bytes");
        return NULL;
    }
    return (const unsigned char *)PyBytes_AS_STRING(key);
}

PyDoc_STRVAR(find_known_doc, "find_known(segments, key, /)\n--\n\nAs `known_table.find_known_in_python`.");

static PyObject *
find_known(PyObject *Py_UNUSED(self), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "find_known takes segments and a key");
        return NULL;
    }
    const unsigned char *key = are_segments(arguments[0]) ? key_bytes(arguments[1]) : NULL;
    PyObject *segment = key == NULL ? NULL : segment_of(arguments[0], key);
    return segment == NULL ? NULL : PyLong_FromUnsignedLongLong(look_up(segment, key));
}

#endif
