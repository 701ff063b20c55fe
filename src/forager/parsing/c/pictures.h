/* The elements `img`: of all a page offers for one picture the widest. `images.py` has the same in Python.
   Part of `tree.h`. */

#ifndef FORAGER_PICTURES_H
#define FORAGER_PICTURES_H

#define MOST_SOURCES 32
#define MOST_BESIDE 256 /* elements of a `picture` before its `img` */
#define LONGEST_SRCSET 16000
#define LONGEST_SOURCE 8192
#define LONGEST_SIZE 10

typedef struct {
    const Byte *begin, *end;
} Span;

enum { FOUND_IMG, FOUND_SRCSET, FOUND_LAZY, FOUND_PICTURE };

typedef struct {
    Span source;
    double width;
    int how;
} Choice;

static Span span_of(const Tables *tables, const Element *element, const Name *name)
{
    const Attribute *attribute = find_attribute(tables, element, name->text, (size_t)name->length);
    Span none = {NULL, NULL};
    if (attribute == NULL)
        return none;
    const Byte *begin = tables->page + attribute->value_at;
    Span span = {begin, begin + attribute->value_length};
    return span;
}

static bool is_tab_or_newline(Byte byte) { return byte == '\t' || byte == '\n' || byte == '\r'; }

static Span trimmed(Span span)
{
    while (span.begin < span.end && *span.begin <= ' ')
        span.begin++;
    while (span.begin < span.end && span.end[-1] <= ' ')
        span.end--;
    return span;
}

/* Whether it is where a picture may be: not `data:` and the like. */
static bool is_source(Span span)
{
    static const char *const NOWHERE[] = {"#",    "javascript:", "mailto:", "tel:", "data:",
                                          "sms:", "whatsapp:",   "about:",  "blob:"};
    span = trimmed(span);
    for (size_t kind = 0; kind < sizeof NOWHERE / sizeof *NOWHERE; kind++) {
        const char *wanted = NOWHERE[kind];
        for (const Byte *at = span.begin; at < span.end && *wanted; at++) {
            if (is_tab_or_newline(*at))
                continue;
            if (lower(*at) != (Byte)*wanted)
                break;
            wanted++;
        }
        if (!*wanted)
            return false;
    }
    return span.begin < span.end;
}

/* `640w`, `2x`, `1.5x`; 1 for what is none. */
static double size_of(const Byte *at, const Byte *end)
{
    if (end - at < 2 || end - at >= LONGEST_SIZE || (end[-1] != 'w' && end[-1] != 'x'))
        return 1;
    double size = 0, unit = 1;
    bool is_behind = false, has_digit = false;
    for (end--; at < end; at++) {
        if (*at == '.' && !is_behind && has_digit) {
            is_behind = true;
            has_digit = false;
        } else if (*at >= '0' && *at <= '9') {
            has_digit = true;
            size = size * 10 + (*at - '0');
            unit = is_behind ? unit * 10 : unit;
        } else {
            return 1;
        }
    }
    return has_digit ? size / unit : 1;
}

static void offer(Choice *best, Span source, double width)
{
    if (source.begin < source.end && width > best->width && is_source(source)) {
        best->source = source;
        best->width = width;
    }
}

/* The largest candidate of a `srcset`; its width is 0 where there is none. */
static Choice widest_of(Span set)
{
    Choice best = {{NULL, NULL}, 0, FOUND_IMG};
    Span url = {NULL, NULL};
    double size = 1;
    if (set.end - set.begin > LONGEST_SRCSET)
        set.end = set.begin + LONGEST_SRCSET;
    for (const Byte *at = set.begin; at < set.end;) {
        while (at < set.end && is_gap(*at))
            at++;
        const Byte *token = at;
        while (at < set.end && !is_gap(*at))
            at++;
        const Byte *end = at;
        if (url.begin == url.end) {
            while (token < end && *token == ',')
                token++;
            url.begin = token;
            url.end = end;
            while (url.end > url.begin && url.end[-1] == ',')
                url.end--;
            size = 1;
            if (url.end < end) {
                offer(&best, url, size);
                url.end = url.begin;
            }
            continue;
        }
        const Byte *comma = memchr(token, ',', (size_t)(end - token));
        double given = size_of(token, comma ? comma : end);
        size = given > size ? given : size;
        if (comma == NULL)
            continue;
        offer(&best, url, size);
        url.begin = comma + 1;
        url.end = end;
        while (url.end > url.begin && url.end[-1] == ',')
            url.end--;
        size = 1;
    }
    offer(&best, url, size);
    return best;
}

static void offer_set(Choice *best, Span set, int how)
{
    if (set.begin == set.end)
        return;
    Choice widest = widest_of(set);
    if (widest.width <= best->width)
        return;
    if (how == FOUND_PICTURE && widest.width <= 1 && is_source(best->source))
        return;
    *best = widest;
    best->how = how;
}

/* The first by the order of the names that is a source. Attributes are looked at once: most have another beginning. */
static Span lazy_source(const Tables *tables, const Element *element, const Name *lazy, Py_ssize_t lazy_count)
{
    Span best = {NULL, NULL};
    const Attribute *attribute = tables->attributes + element->attribute_first;
    for (const Attribute *end = attribute + element->attribute_count; attribute < end; attribute++) {
        const Byte *name = tables->page + attribute->name_at;
        if (attribute->name_length < 6 || memcmp(name, "data-", 5) != 0 || !attribute->value_length)
            continue;
        for (Py_ssize_t at = 0; at < lazy_count; at++) {
            if (lazy[at].length != attribute->name_length || memcmp(name, lazy[at].text, (size_t)lazy[at].length) != 0)
                continue;
            const Byte *begin = tables->page + attribute->value_at;
            Span span = {begin, begin + attribute->value_length};
            if (is_source(span)) {
                best = span;
                lazy_count = at; /* only those before it are better */
            }
        }
    }
    return best;
}

static Choice choose_source(const Tables *tables, const Element *element, const Name *sets, Py_ssize_t set_count,
                            const Name *lazy, Py_ssize_t lazy_count)
{
    static const Name SRC = {"src", 3};
    Choice best = {lazy_source(tables, element, lazy, lazy_count), 0, FOUND_LAZY};
    if (best.source.begin == NULL) {
        best.source = span_of(tables, element, &SRC);
        best.how = FOUND_IMG;
    }
    for (Py_ssize_t name = 0; name < set_count; name++)
        offer_set(&best, span_of(tables, element, &sets[name]), name == 0 ? FOUND_SRCSET : FOUND_LAZY);
    const Element *parent = element->parent == NOBODY ? NULL : &tables->elements[element->parent];
    if (parent == NULL || !is_tag(tables, parent, "picture", 7))
        return best;
    int seen = 0;
    for (const Element *at = parent + 1; at < element && at - parent < MOST_BESIDE && seen < MOST_SOURCES; at++)
        if (at->parent == element->parent && is_tag(tables, at, "source", 6)) {
            seen++;
            for (Py_ssize_t name = 0; name < 2 && name < set_count; name++) {
                Span set = span_of(tables, at, &sets[name]);
                offer_set(&best, set, FOUND_PICTURE);
                if (set.begin != set.end)
                    break;
            }
        }
    return best;
}

/* As text; what has signs that nobody sees, or is too long, is left to `clean`. */
static PyObject *source_text(Span span, PyObject *clean)
{
    if (!is_source(span))
        return PyUnicode_FromStringAndSize("", 0);
    Span shown = trimmed(span);
    bool is_plain = shown.end - shown.begin < LONGEST_SOURCE;
    for (const Byte *at = shown.begin; is_plain && at < shown.end; at++)
        is_plain = *at >= ' ';
    PyObject *text = PyUnicode_DecodeUTF8((const char *)shown.begin, shown.end - shown.begin, "replace");
    if (text == NULL || is_plain)
        return text;
    PyObject *cleaned = PyObject_CallOneArg(clean, text);
    Py_DECREF(text);
    return cleaned;
}

/* `640`, `640px`, `640.5`; -1 for what is none. */
static long pixels_of(Span span)
{
    while (span.begin < span.end && is_gap(*span.begin))
        span.begin++;
    while (span.begin < span.end && is_gap(span.end[-1]))
        span.end--;
    long pixels = 0;
    const Byte *at = span.begin;
    for (; at < span.end && at - span.begin < 6 && *at >= '0' && *at <= '9'; at++)
        pixels = pixels * 10 + (*at - '0');
    if (at == span.begin || at - span.begin > 5)
        return -1;
    if (at < span.end && *at == '.')
        for (at++; at < span.end && *at >= '0' && *at <= '9'; at++)
            ;
    while (at < span.end && is_gap(*at))
        at++;
    if (span.end - at == 2 && memcmp(at, "px", 2) == 0)
        at += 2;
    return at == span.end ? pixels : -1;
}

static PyObject *number_or_none(long number)
{
    if (number < 0)
        Py_RETURN_NONE;
    return PyLong_FromLong(number);
}

static PyObject *said_of(const Tables *tables, const Element *element)
{
    static const Name NAMES[] = {{"alt", 3}, {"title", 5}};
    for (size_t name = 0; name < 2; name++) {
        const Attribute *attribute = find_attribute(tables, element, NAMES[name].text, (size_t)NAMES[name].length);
        if (attribute != NULL && attribute->value_length)
            return value_of(tables, attribute);
    }
    return PyUnicode_FromStringAndSize("", 0);
}

/* An element whose style may have a picture: the style in the place of the source. */
static int add_styled(PyObject *found, const Tables *tables, uint32_t number)
{
    static const Name STYLE = {"style", 5};
    Span style = span_of(tables, &tables->elements[number], &STYLE);
    const Byte *sign = style.begin;
    while (sign != NULL && (sign = memchr(sign, '(', (size_t)(style.end - sign))) != NULL) {
        if (sign - style.begin >= 3 && lower(sign[-3]) == 'u' && lower(sign[-2]) == 'r' && lower(sign[-1]) == 'l')
            break;
        sign++;
    }
    if (sign == NULL)
        return 0;
    PyObject *text = PyUnicode_DecodeUTF8((const char *)style.begin, style.end - style.begin, "replace");
    PyObject *styled =
        text == NULL ? NULL : Py_BuildValue("(IsOOsOO)", number, "background", text, Py_True, "", Py_None, Py_None);
    int done = styled == NULL ? -1 : PyList_Append(found, styled);
    Py_XDECREF(text);
    Py_XDECREF(styled);
    return done;
}

typedef struct {
    Name sets[MOST_NAMES], lazy[MOST_NAMES];
    Py_ssize_t set_count, lazy_count;
    Wanted wanted;
    PyObject *clean;
    PyObject *hows[4];
} Pictures;

static PyObject *how_text(Pictures *pictures, int how)
{
    static const char *const HOW[] = {"img", "srcset", "lazy", "picture"};
    if (pictures->hows[how] == NULL)
        pictures->hows[how] = PyUnicode_InternFromString(HOW[how]);
    return Py_XNewRef(pictures->hows[how]);
}

/* A tuple of what it takes over; NULL where one is NULL. */
static PyObject *pack(PyObject **values, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t at = 0; at < count; at++) {
        if (values[at] == NULL)
            Py_CLEAR(tuple);
        else if (tuple != NULL)
            PyTuple_SET_ITEM(tuple, at, Py_NewRef(values[at]));
    }
    for (Py_ssize_t at = 0; at < count; at++)
        Py_XDECREF(values[at]);
    return tuple;
}

static int add_picture(PyObject *found, Pictures *pictures, const Tables *tables, uint32_t number)
{
    static const Name WIDTH = {"width", 5}, HEIGHT = {"height", 6};
    const Element *element = &tables->elements[number];
    Choice chosen =
        choose_source(tables, element, pictures->sets, pictures->set_count, pictures->lazy, pictures->lazy_count);
    if (!is_source(chosen.source))
        return 0;
    size_t length = (size_t)(chosen.source.end - chosen.source.begin);
    PyObject *source = source_text(chosen.source, pictures->clean);
    PyObject *values[7] = {NULL, NULL, source};
    if (source != NULL) { /* nothing else is asked for while an exception is set */
        values[0] = PyLong_FromUnsignedLong(number);
        values[1] = how_text(pictures, chosen.how);
        values[3] = PyBool_FromLong(holds_word(chosen.source.begin, length, &pictures->wanted));
        values[4] = said_of(tables, element);
        values[5] = number_or_none(pixels_of(span_of(tables, element, &WIDTH)));
        values[6] = number_or_none(pixels_of(span_of(tables, element, &HEIGHT)));
    }
    PyObject *picture = pack(values, 7);
    int done = picture == NULL ? -1 : PyList_Append(found, picture);
    Py_XDECREF(picture);
    return done;
}

/* (element, how, source, whether it holds one of the words, alt, width, height) of each `img` that has a source. */
static PyObject *tree_pictures(PyObject *self, PyObject *given)
{
    const Tables *tables = &((Tree *)self)->tables;
    PyObject *given_sets, *given_lazy, *given_words;
    Py_ssize_t most;
    int with_styles;
    Pictures pictures;
    if (!PyArg_ParseTuple(given, "OOOOnp:pictures", &given_sets, &given_lazy, &given_words, &pictures.clean, &most,
                          &with_styles))
        return NULL;
    if ((pictures.set_count = names_of(given_sets, pictures.sets)) < 0 ||
        (pictures.lazy_count = names_of(given_lazy, pictures.lazy)) < 0 ||
        (pictures.wanted.count = names_of(given_words, pictures.wanted.words)) < 0)
        return NULL;
    note_pairs(&pictures.wanted);
    memset(pictures.hows, 0, sizeof pictures.hows);
    uint8_t image = kind_of((const Byte *)"img", 3);
    PyObject *found = PyList_New(0);
    for (uint32_t at = 0; found != NULL && at < tables->element_count && most > 0; at++) {
        int done = 0;
        if (tables->elements[at].kind == image) {
            most--;
            done = add_picture(found, &pictures, tables, at);
        } else if (with_styles && tables->elements[at].attribute_count) {
            done = add_styled(found, tables, at);
        }
        if (done < 0)
            Py_CLEAR(found);
    }
    for (size_t how = 0; how < sizeof pictures.hows / sizeof *pictures.hows; how++)
        Py_XDECREF(pictures.hows[how]);
    return found;
}

#endif
