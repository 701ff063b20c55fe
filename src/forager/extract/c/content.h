/* The text of a page without what surrounds it, and its headings, as `text.take_text` and `text.find_headings` take them.
 *
 * They cut elements out of the tree; here what is cut is remembered, and walked past. The steps have the same names.
 */

#ifndef FORAGER_CONTENT_H
#define FORAGER_CONTENT_H

#include "lexbor.h"
#include "words.h"

#define MOST_NAMED 3000
#define MOST_CUTS 300
#define MOST_REGIONS 30
#define FARTHEST_ARTICLE 12
#define FARTHEST_BLOCK 8
#define LONG_PROSE 400
#define LONGEST_FORM 600
#define LONG_MAIN 1500
#define SHORTEST_MAIN 200
#define MOST_HEADINGS 20
#define LONGEST_HEADING 200

/* What Python decides, and its verdicts. */
typedef struct {
    PyObject *judge_names, *is_hiding, *choose_dominant;
    PyObject *around, *likely_around, *content;
} Judges;

typedef struct {
    const Lexbor *lexbor;
    const Judges *judges;
    View view;
    Node *root, *body; /* `body` may be NULL */
    List all[LISTED];  /* elements by kind, in the order of the page */
    Set frames;        /* whatever holds a headline or the main element */
    List content;      /* what is named like content */
    List around;       /* boilerplate */
} Page;

static void page_free(Page *page)
{
    for (int kind = 0; kind < LISTED; kind++)
        PyMem_Free(page->all[kind].nodes);
    PyMem_Free(page->content.nodes);
    PyMem_Free(page->around.nodes);
    PyMem_Free(page->frames.slots);
    PyMem_Free(page->view.cut.slots);
}

static int list_elements(Page *page)
{
    const Lexbor *lexbor = page->lexbor;
    Node *node = page->root;
    while (node != NULL) {
        int kind = kind_of(lexbor, node);
        if (kind >= FIRST_INVISIBLE) {
            node = step_over(lexbor, page->root, node);
            continue;
        }
        if (kind >= 0 && kind < LISTED && list_add(&page->all[kind], node) < 0)
            return -1;
        node = step(lexbor, page->root, node);
    }
    return 0;
}

static int find_frames(Page *page)
{
    static const int FRAMED[] = {H1, MAIN};
    for (int each = 0; each < 2; each++) {
        const List *nodes = &page->all[FRAMED[each]];
        for (Py_ssize_t at = 0; at < nodes->count && at < MOST_REGIONS; at++) {
            Node *parent = page->lexbor->parent(nodes->nodes[at]);
            for (; parent != NULL && !set_has(&page->frames, parent); parent = page->lexbor->parent(parent))
                if (set_add(&page->frames, parent) < 0)
                    return -1;
        }
    }
    return 0;
}

/* ---- boilerplate ---------------------------------------------------------------------------------------------- */

enum { NOTHING, CONTENT, LIKELY_AROUND, SURELY_AROUND };
enum { CLASS, ID, ROLE, HIDDEN, ARIA_HIDDEN, HTML_STYLE, LOOKED_FOR };

/* What its names say, which Python remembers; -1 with an exception. */
static int judge(const Judges *judges, const Attribute *given)
{
    if (given[CLASS].value == NULL && given[ID].value == NULL && given[ROLE].value == NULL)
        return NOTHING;
    PyObject *names[3] = {NULL}, *verdict = NULL;
    int found = -1;
    for (int at = 0; at < 3; at++)
        if ((names[at] = value_or_none(&given[at])) == NULL)
            goto end;
    verdict = PyObject_Vectorcall(judges->judge_names, names, 3, NULL);
    if (verdict != NULL)
        found = verdict == judges->around          ? SURELY_AROUND
                : verdict == judges->likely_around ? LIKELY_AROUND
                : verdict == judges->content       ? CONTENT
                                                  : NOTHING;
end:
    for (int at = 0; at < 3; at++)
        Py_XDECREF(names[at]);
    Py_XDECREF(verdict);
    return found;
}

static int is_hidden(const Judges *judges, const Attribute *given)
{
    const Attribute *aria = &given[ARIA_HIDDEN], *style = &given[HTML_STYLE];
    if (given[HIDDEN].is_there || (aria->value != NULL && aria->length == 4 && memcmp(aria->value, "true", 4) == 0))
        return 1;
    if (style->value == NULL)
        return 0;
    PyObject *text = value_or_none(style);
    PyObject *answer = text ? PyObject_CallOneArg(judges->is_hiding, text) : NULL;
    int is_hiding = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(text);
    Py_XDECREF(answer);
    return is_hiding;
}

/* Long, and not made of links. */
static int is_prose(const Page *page, Node *node)
{
    const Lexbor *lexbor = page->lexbor;
    Py_ssize_t length = text_length(&page->view, node), linked = 0;
    if (length < LONG_PROSE)
        return length < 0 ? -1 : 0;
    Node *inner = lexbor->first_child(node);
    while (inner != NULL) {
        int kind = kind_of(lexbor, inner);
        if (leaves_out(&page->view, inner, kind)) {
            inner = step_over(lexbor, node, inner);
            continue;
        }
        if (kind == A) {
            Py_ssize_t more = text_length(&page->view, inner);
            if (more < 0)
                return -1;
            linked += more;
        }
        inner = step(lexbor, node, inner);
    }
    return linked * 2 < length;
}

/* A header of an article holds the headline. */
static bool is_of_article(const Lexbor *lexbor, Node *node)
{
    for (int at = 0; at < FARTHEST_ARTICLE; at++) {
        node = lexbor->parent(node);
        if (node == NULL)
            return false;
        int kind = kind_of(lexbor, node);
        if (kind == ARTICLE || kind == MAIN)
            return true;
    }
    return false;
}

/* Boilerplate by what it is; -1 with an exception. */
static int is_around(const Page *page, Node *node, int kind)
{
    if (kind >= FIRST_NEUTRAL)
        return 0;
    if (kind == FORM) {
        Py_ssize_t length = text_length(&page->view, node);
        return length < 0 ? -1 : length <= LONGEST_FORM;
    }
    return kind != HEADER || !is_of_article(page->lexbor, node);
}

static int look_at(Page *page, Node *node, int kind)
{
    Attribute given[LOOKED_FOR] = {NAMED("class"), NAMED("id"),          NAMED("role"),
                                   NAMED("hidden"), NAMED("aria-hidden"), NAMED("style")};
    read_attributes(page->lexbor, node, given, LOOKED_FOR);
    int verdict = judge(page->judges, given);
    if (verdict < 0 || (verdict == CONTENT && list_add(&page->content, node) < 0))
        return -1;
    if (set_has(&page->frames, node))
        return 0;
    int answer = is_hidden(page->judges, given);
    if (answer)
        return answer < 0 ? -1 : set_add(&page->view.cut, node);
    answer = verdict == SURELY_AROUND ? 1 : is_around(page, node, kind);
    if (!answer && verdict == LIKELY_AROUND && page->around.count < MOST_CUTS) {
        answer = is_prose(page, node);
        answer = answer < 0 ? -1 : !answer;
    }
    return answer > 0 ? list_add(&page->around, node) : answer;
}

/* Without those that were cut; in place. */
static void keep_uncut(const Page *page, List *nodes)
{
    if (!page->view.cut.used)
        return;
    Py_ssize_t kept = 0;
    for (Py_ssize_t at = 0; at < nodes->count; at++)
        if (!is_cut(&page->view, nodes->nodes[at]))
            nodes->nodes[kept++] = nodes->nodes[at];
    nodes->count = kept;
}

/* What is hidden is cut at once, boilerplate when all was looked at: as in `cut_boilerplate`, where elements of a name are
 * listed before any of them is cut. */
static int cut_boilerplate(Page *page)
{
    for (int kind = 0; kind < LOOKED_AT; kind++) {
        List *nodes = &page->all[kind];
        keep_uncut(page, nodes);
        for (Py_ssize_t at = 0; at < nodes->count && at < MOST_NAMED; at++)
            if (look_at(page, nodes->nodes[at], kind) < 0)
                return -1;
    }
    for (Py_ssize_t at = 0; at < page->around.count; at++)
        if (set_add(&page->view.cut, page->around.nodes[at]) < 0)
            return -1;
    for (int kind = LOOKED_AT; kind < LISTED; kind++)
        keep_uncut(page, &page->all[kind]);
    return 0;
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

/* Which of several is the content, which Python decides by their texts; NULL where none is, or with an exception. */
static Node *find_dominant(const Page *page, const List *nodes)
{
    if (nodes->count < 2)
        return nodes->count ? nodes->nodes[0] : NULL;
    Py_ssize_t count = Py_MIN(nodes->count, MOST_REGIONS);
    PyObject *texts = PyList_New(count), *answer = NULL;
    Node *found = NULL;
    for (Py_ssize_t at = 0; texts != NULL && at < count; at++) {
        PyObject *text = text_below(&page->view, nodes->nodes[at], false);
        if (text == NULL)
            goto end;
        PyList_SET_ITEM(texts, at, text);
    }
    if (texts != NULL)
        answer = PyObject_CallOneArg(page->judges->choose_dominant, texts);
    if (answer != NULL && answer != Py_None) {
        Py_ssize_t at = PyLong_AsSsize_t(answer);
        if (!PyErr_Occurred() && at >= 0 && at < count)
            found = nodes->nodes[at];
    }
end:
    Py_XDECREF(texts);
    Py_XDECREF(answer);
    return found;
}

/* The narrowest block around the only headline that has most of the text; NULL also with an exception. */
static Node *block_of_headline(const Page *page)
{
    const List *headlines = &page->all[H1];
    if (headlines->count != 1 || page->body == NULL)
        return NULL;
    Py_ssize_t whole = text_length(&page->view, page->body);
    if (whole < 0)
        return NULL;
    double most = (double)whole * 0.7;
    Node *block = page->lexbor->parent(headlines->nodes[0]);
    for (int at = 0; at < FARTHEST_BLOCK && block != NULL; at++) {
        int kind = kind_of(page->lexbor, block);
        if (kind == BODY || kind == HTML)
            return NULL;
        Py_ssize_t length = text_length(&page->view, block);
        if (length < 0)
            return NULL;
        if ((double)length >= most)
            return block;
        block = page->lexbor->parent(block);
    }
    return NULL;
}

/* From the narrowest to the widest; how many, or -1 with an exception. */
static int find_regions(const Page *page, Node *regions[3])
{
    int count = 0;
    Node *article = find_dominant(page, &page->all[ARTICLE]);
    if (article != NULL)
        regions[count++] = article;
    if (page->all[MAIN].count)
        regions[count++] = page->all[MAIN].nodes[0];
    else if (article == NULL && !PyErr_Occurred()) {
        Node *content = find_dominant(page, &page->content);
        if (content == NULL && !PyErr_Occurred())
            content = block_of_headline(page);
        if (content != NULL)
            regions[count++] = content;
    }
    if (page->body != NULL)
        regions[count++] = page->body;
    return PyErr_Occurred() ? -1 : count;
}

/* Of the narrowest region that holds most of what the wider ones do. */
static PyObject *text_of_content(const Page *page)
{
    Node *regions[3];
    int count = find_regions(page, regions);
    PyObject *text = count < 0 ? NULL : PyUnicode_New(0, 127);
    Py_ssize_t enough = 0;
    for (int at = 0; text != NULL && at < count; at++) {
        PyObject *wider = text_below(&page->view, regions[at], true);
        if (wider == NULL) {
            Py_CLEAR(text);
            break;
        }
        bool is_first = !PyUnicode_GET_LENGTH(text), has_headline = set_has(&page->frames, regions[at]);
        if (!is_first && weigh_up_to(wider, enough + 1) <= enough) {
            Py_DECREF(wider);
            break;
        }
        Py_SETREF(text, wider);
        if (has_headline && weigh_up_to(wider, LONG_MAIN) >= LONG_MAIN)
            break;
        enough = at + 1 < count ? weigh(wider) * (has_headline ? 3 : 2) : 0;
    }
    return text;
}

/* ---- headings ------------------------------------------------------------------------------------------------- */

static PyObject *find_headings(const Page *page)
{
    PyObject *found = PyList_New(0);
    Buffer text = {0};
    Py_ssize_t count = 0;
    for (int kind = H1; found != NULL && kind <= H3; kind++)
        for (Py_ssize_t at = 0; at < page->all[kind].count && count < MOST_HEADINGS; at++, count++) {
            text.used = 0;
            PyObject *words = NULL;
            if (gather_text(&page->view, page->all[kind].nodes[at], false, &text) == 0)
                words = collapse_bytes(text.bytes, text.used, PY_SSIZE_T_MAX, LONGEST_HEADING);
            int status = words == NULL ? -1 : PyUnicode_GET_LENGTH(words) ? PyList_Append(found, words) : 0;
            Py_XDECREF(words);
            if (status < 0) {
                Py_CLEAR(found);
                goto end;
            }
        }
end:
    PyMem_Free(text.bytes);
    return found;
}

/* (text, list of headings); None where a page has nothing but boilerplate. */
static PyObject *take_content(const Lexbor *lexbor, const Judges *judges, Node *root, Node *body)
{
    Page page = {.lexbor = lexbor, .judges = judges, .view = {.lexbor = lexbor}, .root = root, .body = body};
    PyObject *text = NULL, *headings = NULL, *taken = NULL;
    if (list_elements(&page) < 0 || find_frames(&page) < 0 || cut_boilerplate(&page) < 0)
        goto end;
    text = text_of_content(&page);
    if (text == NULL)
        goto end;
    if (page.around.count && weigh_up_to(text, SHORTEST_MAIN) < SHORTEST_MAIN) {
        taken = Py_NewRef(Py_None);
        goto end;
    }
    headings = find_headings(&page);
    if (headings != NULL)
        taken = PyTuple_Pack(2, text, headings);
end:
    Py_XDECREF(text);
    Py_XDECREF(headings);
    page_free(&page);
    return taken;
}

#endif
