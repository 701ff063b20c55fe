/* End tags that close formatting elements across blocks: the "adoption agency" of the HTML standard (13.2.6.4.7). */

#ifndef FORAGER_ADOPTION_H
#define FORAGER_ADOPTION_H

#include "nodes.h"

static void end_any_other(Builder *builder, const Tag *tag)
{
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (node->space == HTML_SPACE && node->kind == tag->kind &&
            (tag->kind != NO_KIND || is_same_text(builder, node->at, node->length, tag->name_at, tag->name_length))) {
            imply_ends(builder, tag->kind == NO_KIND ? (uint8_t)TAG_COUNT : tag->kind);
            while (builder->depth > at && builder->depth > 1)
                pop(builder);
            return;
        }
        if (is_special(node))
            return;
    }
}

static uint32_t find_open(const Builder *builder, uint32_t number)
{
    for (uint32_t at = builder->depth; at-- > 0;)
        if (builder->stack[at] == number)
            return at;
    return NOBODY;
}

/* The copy of an element takes its place on the stack. */
static void replace_open(Builder *builder, uint32_t at, uint32_t number)
{
    left(builder, builder->stack[at]);
    builder->stack[at] = number;
    builder->nodes[number].flags |= NODE_OPEN;
    if (builder->nodes[number].space == HTML_SPACE)
        builder->open_counts[builder->nodes[number].kind]++;
}

static void remove_open_at(Builder *builder, uint32_t at)
{
    left(builder, builder->stack[at]);
    memmove(&builder->stack[at], &builder->stack[at + 1], (builder->depth - at - 1) * sizeof *builder->stack);
    builder->depth--;
}

/* One round of the "adoption agency": false when there is nothing left to do. */
static bool adopt(Builder *builder, const Tag *tag)
{
    uint32_t entry = builder->formatting_count;
    while (entry && builder->formatting[entry - 1] != NOBODY &&
           builder->nodes[builder->formatting[entry - 1]].kind != tag->kind)
        entry--;
    if (entry == 0 || builder->formatting[entry - 1] == NOBODY || builder->reopened >= MOST_REOPENED) {
        end_any_other(builder, tag);
        return false;
    }
    entry--;
    uint32_t formatting = builder->formatting[entry], opened = find_open(builder, formatting);
    if (opened == NOBODY) {
        forget_formatting_at(builder, entry);
        return false;
    }
    if (!is_node_in_scope(builder, formatting))
        return false;
    uint32_t furthest_at = opened + 1;
    while (furthest_at < builder->depth && !is_special(&builder->nodes[builder->stack[furthest_at]]))
        furthest_at++;
    if (furthest_at == builder->depth || opened == 0) {
        while (builder->depth > opened && builder->depth > 1)
            pop(builder);
        forget_formatting_at(builder, entry);
        return false;
    }
    uint32_t furthest = builder->stack[furthest_at], ancestor = builder->stack[opened - 1];
    uint32_t bookmark = entry, last = furthest, at = furthest_at;
    for (int round = 1;; round++) {
        at--;
        uint32_t node = builder->stack[at];
        if (node == formatting)
            break;
        uint32_t listed = find_formatting(builder, node);
        if (round > 3 && listed != NOBODY) {
            forget_formatting_at(builder, listed);
            bookmark -= listed < bookmark;
            listed = NOBODY;
        }
        if (listed == NOBODY) {
            remove_open_at(builder, at);
            furthest_at--;
            continue;
        }
        uint32_t copy = copy_node(builder, node);
        builder->formatting[listed] = copy;
        replace_open(builder, at, copy);
        if (last == furthest)
            bookmark = listed + 1;
        detach(builder, last);
        insert_at(builder, last, (Place){copy, NOBODY});
        last = copy;
    }
    detach(builder, last);
    insert_at(builder, last, place_in(builder, ancestor));
    uint32_t copy = copy_node(builder, formatting);
    move_children(builder, furthest, copy);
    insert_at(builder, copy, (Place){furthest, NOBODY});
    entry = find_formatting(builder, formatting);
    forget_formatting_at(builder, entry);
    bookmark -= entry < bookmark;
    memmove(&builder->formatting[bookmark + 1], &builder->formatting[bookmark],
            (builder->formatting_count - bookmark) * sizeof *builder->formatting);
    builder->formatting[bookmark] = copy;
    builder->formatting_count++;
    remove_open_at(builder, opened);
    furthest_at--;
    memmove(&builder->stack[furthest_at + 2], &builder->stack[furthest_at + 1],
            (builder->depth - furthest_at - 1) * sizeof *builder->stack);
    builder->depth++;
    builder->stack[furthest_at + 1] = copy;
    builder->nodes[copy].flags |= NODE_OPEN;
    builder->open_counts[builder->nodes[copy].kind]++;
    return true;
}

static void end_formatting(Builder *builder, const Tag *tag)
{
    uint32_t last = builder->stack[builder->depth - 1];
    if (is_html(&builder->nodes[last], tag->kind) && find_formatting(builder, last) == NOBODY) {
        pop(builder);
        return;
    }
    for (int round = 0; round < 8 && adopt(builder, tag); round++)
        ;
}

#endif
