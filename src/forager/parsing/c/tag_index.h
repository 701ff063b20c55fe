/* The elements of a page by their tags. Rules ask for some tags two dozen times a page: the first question sorts all
 * elements by kind, so that an answer costs what is in it, not what is in the page.
 */

#ifndef FORAGER_TAG_INDEX_H
#define FORAGER_TAG_INDEX_H

#include "tables.h"

typedef struct {
    uint32_t *numbers; /* by kind, then in the order of the page; NULL before the first question */
    uint32_t starts[UINT8_MAX + 2];
} TagIndex;

static int index_tags(TagIndex *index, const Tables *tables)
{
    uint32_t next[UINT8_MAX + 1] = {0};
    index->numbers = malloc((tables->element_count + 1) * sizeof *index->numbers);
    if (index->numbers == NULL)
        return -1;
    for (uint32_t at = 0; at < tables->element_count; at++)
        next[tables->elements[at].kind]++;
    index->starts[0] = 0;
    for (size_t kind = 0; kind <= UINT8_MAX; kind++) {
        index->starts[kind + 1] = index->starts[kind] + next[kind];
        next[kind] = index->starts[kind];
    }
    for (uint32_t at = 0; at < tables->element_count; at++)
        index->numbers[next[tables->elements[at].kind]++] = at;
    return 0;
}

/* The elements of one kind that were not given yet. */
typedef struct {
    const uint32_t *next, *end;
} TagSpan;

/* The first element in several spans, which is taken out of them; NOBODY where nothing is left. */
static uint32_t next_tag(TagSpan *spans, size_t count)
{
    TagSpan *first = NULL;
    for (TagSpan *span = spans; span < spans + count; span++)
        if (span->next < span->end && (first == NULL || *span->next < *first->next))
            first = span;
    return first == NULL ? NOBODY : *first->next++;
}

#endif
