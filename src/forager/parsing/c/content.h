/* What rules about the content of a page (`boilerplate.py`, `content.py`) are given: a look at every element, and a row
 * for each of the few that stand out. `tree.py` says what is in a row.
 */

#ifndef FORAGER_CONTENT_H
#define FORAGER_CONTENT_H

/* Bytes of an element that are shown, that are so in links, that are so in paragraphs. */
typedef struct {
    uint32_t text, link, prose;
} Weights;

static Weights weights_of(const Tables *tables, const Element *element)
{
    Run before = {0}, after = {0};
    if (element->run_first)
        before = tables->runs[element->run_first - 1];
    if (element->run_end)
        after = tables->runs[element->run_end - 1];
    return (Weights){after.text - before.text, after.link - before.link, after.prose - before.prose};
}

/* A tuple of numbers, the first of them after `first` others that are left open. */
static PyObject *row_of(Py_ssize_t first, const uint32_t *numbers, Py_ssize_t count)
{
    PyObject *row = PyTuple_New(first + count);
    for (Py_ssize_t at = 0; row != NULL && at < count; at++) {
        PyObject *number = PyLong_FromUnsignedLong(numbers[at]);
        if (number == NULL)
            Py_CLEAR(row);
        else
            PyTuple_SET_ITEM(row, first + at, number);
    }
    return row;
}

/* Appends what was made, or nothing where it was not. */
static int add_row(PyObject *rows, PyObject *row)
{
    int done = row == NULL ? -1 : PyList_Append(rows, row);
    Py_XDECREF(row);
    return done;
}

static PyObject *tree_weights(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Element *element = element_of(tree, number);
    if (element == NULL)
        return NULL;
    Weights weights = weights_of(&tree->tables, element);
    return row_of(0, (uint32_t[]){weights.text, weights.link, weights.prose}, 3);
}

/* Its children that have text. */
static PyObject *tree_children(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    const Element *element = element_of(tree, number);
    PyObject *rows = element == NULL ? NULL : PyList_New(0);
    for (uint32_t at = element ? (uint32_t)(element - tables->elements) + 1 : 0; rows != NULL && at < element->end;) {
        const Element *child = &tables->elements[at];
        Weights weights = weights_of(tables, child);
        if (weights.text &&
            add_row(rows, row_of(0, (uint32_t[]){at, child->end, weights.text, weights.link, weights.prose}, 5)) < 0)
            Py_CLEAR(rows);
        at = child->end;
    }
    return rows;
}

/* All around one element, the nearest first. */
static PyObject *tree_above(PyObject *self, PyObject *number)
{
    const Tree *tree = (Tree *)self;
    const Element *element = element_of(tree, number);
    PyObject *found = element == NULL ? NULL : PyList_New(0);
    while (found != NULL && element->parent != NOBODY) {
        if (add_number(found, element->parent) < 0)
            Py_CLEAR(found);
        element = &tree->tables.elements[element->parent];
    }
    return found;
}

static bool has_name(const Tables *tables, const Attribute *attribute, const char *name)
{
    return memcmp(tables->page + attribute->name_at, name, attribute->name_length) == 0;
}

/* What its class, id and role say. */
static void judge_element(const Tables *tables, const Element *element, uint8_t *verdict)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++) {
        Judge *judge = NULL;
        if (attribute->name_length == 5 && has_name(tables, attribute, "class"))
            judge = judge_class;
        else if (attribute->name_length == 2 && has_name(tables, attribute, "id"))
            judge = judge_identity;
        else if (attribute->name_length == 4 && has_name(tables, attribute, "role"))
            judge = judge_role;
        if (judge != NULL)
            judge_attribute(tables, attribute, judge, verdict);
    }
}

static bool is_hidden(const Tables *tables, const Element *element)
{
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++)
        if (hides(tables, attribute))
            return true;
    return false;
}

/* Why an element stands out: by what it is, by its own attributes, by its names. */
typedef struct {
    bool is_around, is_hidden;
    uint8_t verdict;
    Weights weights;
} Mark;

static bool mark_element(const Tables *tables, const Element *element, Mark *mark)
{
    uint8_t role = tag_roles[element->kind];
    bool has_runs = element->run_first < element->run_end && element->attribute_count;
    *mark = (Mark){.is_around = role == AROUND_TAG, .is_hidden = has_runs && is_hidden(tables, element)};
    if (role == NO_ROLE && !mark->is_hidden)
        return false;
    mark->weights = weights_of(tables, element);
    mark->is_hidden = mark->is_hidden && mark->weights.text;
    if (mark->weights.text)
        judge_element(tables, element, &mark->verdict);
    return mark->is_around || mark->is_hidden || mark->verdict;
}

static PyObject *mark_row(const Tables *tables, uint32_t number, const Mark *mark)
{
    const Element *element = &tables->elements[number];
    const char *tag = mark->is_around ? KINDS[element->kind].name : "";
    const Weights *weights = &mark->weights;
    const uint32_t numbers[] = {number, element->end, mark->verdict, weights->text, weights->link, weights->prose};
    PyObject *row = row_of(2, numbers, 6);
    PyObject *name = row == NULL ? NULL : PyUnicode_FromString(tag);
    if (name == NULL) {
        Py_XDECREF(row);
        return NULL;
    }
    PyTuple_SET_ITEM(row, 0, name);
    PyTuple_SET_ITEM(row, 1, PyBool_FromLong(mark->is_hidden));
    return row;
}

/* The first element from this one on that stands out. */
static PyObject *tree_next_marked(PyObject *self, PyObject *number)
{
    const Tables *tables = &((Tree *)self)->tables;
    Mark mark;
    Py_ssize_t at = PyLong_AsSsize_t(number);
    if (at < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_IndexError, "there is no element %zd", at);
        return NULL;
    }
    for (; at < (Py_ssize_t)tables->element_count; at++)
        if (mark_element(tables, &tables->elements[at], &mark))
            return mark_row(tables, (uint32_t)at, &mark);
    Py_RETURN_NONE;
}

/* All elements with paragraphs whose names say this. */
static PyObject *tree_saying(PyObject *self, PyObject *given)
{
    const Tables *tables = &((Tree *)self)->tables;
    long verdict = PyLong_AsLong(given);
    if (verdict == -1 && PyErr_Occurred())
        return NULL;
    PyObject *rows = PyList_New(0);
    for (uint32_t at = 0; rows != NULL && at < tables->element_count; at++) {
        const Element *element = &tables->elements[at];
        Mark mark;
        if (!element->attribute_count || !weights_of(tables, element).prose)
            continue;
        mark_element(tables, element, &mark);
        if (mark.verdict == verdict && add_row(rows, mark_row(tables, at, &mark)) < 0)
            Py_CLEAR(rows);
    }
    return rows;
}

/* linked(number, least, share): blocks in an element that have so much text, and this share of it in links. */
static PyObject *tree_linked(PyObject *self, PyObject *given)
{
    const Tree *tree = (Tree *)self;
    const Tables *tables = &tree->tables;
    PyObject *number;
    Py_ssize_t least;
    double share;
    if (!PyArg_ParseTuple(given, "Ond:linked", &number, &least, &share))
        return NULL;
    const Element *around = element_of(tree, number);
    PyObject *found = around == NULL ? NULL : PyList_New(0);
    for (uint32_t at = around ? (uint32_t)(around - tables->elements) + 1 : 0; found != NULL && at < around->end; at++) {
        const Element *element = &tables->elements[at];
        if (tag_roles[element->kind] == NO_ROLE)
            continue;
        Weights weights = weights_of(tables, element);
        if ((Py_ssize_t)weights.text >= least && weights.link >= weights.text * share && add_number(found, at) < 0)
            Py_CLEAR(found);
    }
    return found;
}

#endif
