/* Builds the tree of a page as the HTML standard says (13.2.6, tree construction), from the tags of `tokenizer.h`.
 *
 * The functions are called after the standard's insertion modes and keep to the order of its rules. Left out is what no
 * reader of a page needs: errors, positions, the content of comments, the case of names in drawings.
 */

#ifndef FORAGER_BUILDER_H
#define FORAGER_BUILDER_H

#include <strings.h>

#include "nodes.h"

static void on_start(Builder *builder, Tag *tag);
static void on_end(Builder *builder, const Tag *tag);
static void on_text(Builder *builder, uint32_t at, uint32_t length);
static void read_raw_text(Builder *builder, const Tag *tag, bool decodes);

/* ---- end tags of formatting elements ------------------------------------------------------------------------------- */

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

/* ---- modes --------------------------------------------------------------------------------------------------------- */

static void reset_mode(Builder *builder)
{
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (node->space != HTML_SPACE)
            continue;
        switch (node->kind) {
        case TAG_TD:
        case TAG_TH:
            builder->mode = IN_CELL;
            return;
        case TAG_TR:
            builder->mode = IN_ROW;
            return;
        case TAG_TBODY:
        case TAG_THEAD:
        case TAG_TFOOT:
            builder->mode = IN_TABLE_BODY;
            return;
        case TAG_CAPTION:
            builder->mode = IN_CAPTION;
            return;
        case TAG_COLGROUP:
            builder->mode = IN_COLUMN_GROUP;
            return;
        case TAG_TABLE:
            builder->mode = IN_TABLE;
            return;
        case TAG_TEMPLATE:
            builder->mode = builder->template_count ? builder->template_modes[builder->template_count - 1] : IN_BODY;
            return;
        case TAG_HEAD:
            builder->mode = IN_HEAD;
            return;
        case TAG_BODY:
            builder->mode = IN_BODY;
            return;
        case TAG_FRAMESET:
            builder->mode = IN_FRAMESET;
            return;
        case TAG_HTML:
            builder->mode = builder->head == NOBODY ? BEFORE_HEAD : AFTER_HEAD;
            return;
        default:
            break;
        }
    }
    builder->mode = IN_BODY;
}

static void merge_attributes(Builder *builder, uint32_t number, const Tag *tag)
{
    Tables *tables = builder->tables;
    Node *node = &builder->nodes[number];
    uint32_t count = node->attribute_count, more = tag->attribute_count;
    if (more == 0 || count + more > MOST_MERGED)
        return;
    uint32_t first = tables->attribute_count;
    if (first + count + more > tables->attribute_size)
        tables->attributes = grown(builder, tables->attributes, &tables->attribute_size, sizeof *tables->attributes,
                                   first + count + more);
    Attribute *attributes = tables->attributes, *to = attributes + first;
    memcpy(to, attributes + node->attribute_first, count * sizeof *to);
    to += count;
    for (uint32_t at = 0; at < more; at++)
        if (!has_attribute(builder, node, &attributes[tag->attribute_first + at], false))
            *to++ = attributes[tag->attribute_first + at];
    node->attribute_first = first;
    node->attribute_count = (uint16_t)(to - (attributes + first));
    tables->attribute_count = first + node->attribute_count;
}

static void push_template_mode(Builder *builder, Mode mode)
{
    if (builder->template_count == MOST_DEPTH)
        builder->template_count--;
    builder->template_modes[builder->template_count++] = (uint8_t)mode;
}

static void replace_template_mode(Builder *builder, Mode mode)
{
    builder->template_count -= builder->template_count > 0;
    push_template_mode(builder, mode);
    builder->mode = mode;
}

static void end_template(Builder *builder)
{
    if (!has_open(builder, TAG_TEMPLATE))
        return;
    imply_ends_thoroughly(builder);
    pop_until(builder, TAG_TEMPLATE);
    clear_to_marker(builder);
    builder->template_count -= builder->template_count > 0;
    reset_mode(builder);
}

/* The content of the head, wherever it stands. */
static void start_head_content(Builder *builder, const Tag *tag)
{
    switch (tag->kind) {
    case TAG_TITLE:
        read_raw_text(builder, tag, true);
        break;
    case TAG_NOFRAMES:
    case TAG_STYLE:
    case TAG_SCRIPT:
        read_raw_text(builder, tag, false);
        break;
    case TAG_TEMPLATE:
        insert_element(builder, tag, HTML_SPACE);
        add_marker(builder);
        builder->is_frameset_ok = false;
        builder->mode = IN_TEMPLATE;
        push_template_mode(builder, IN_TEMPLATE);
        break;
    default:
        insert_void(builder, tag);
    }
}

static bool is_head_content(const Tag *tag) { return tag->kind != NO_KIND && KINDS[tag->kind].rules & HEAD_CONTENT; }

static void start_item(Builder *builder, const Tag *tag, uint8_t kind, uint8_t other)
{
    builder->is_frameset_ok = false;
    for (uint32_t at = builder->depth; at-- > 0;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (is_html(node, kind) || is_html(node, other)) {
            uint8_t found = node->kind;
            imply_ends(builder, found);
            pop_until(builder, found);
            break;
        }
        if (is_special(node) && !is_html(node, TAG_ADDRESS) && !is_html(node, TAG_DIV) && !is_html(node, TAG_P))
            break;
    }
    close_p(builder);
    insert_element(builder, tag, HTML_SPACE);
}

static void start_foreign(Builder *builder, const Tag *tag, uint8_t space)
{
    uint32_t number = insert_element(builder, tag, space);
    if (space == MATH_SPACE && tag->kind == TAG_ANNOTATION_XML) {
        const Tables *tables = builder->tables;
        const Attribute *attribute = tables->attributes + tag->attribute_first;
        for (const Attribute *end = attribute + tag->attribute_count; attribute < end; attribute++) {
            const char *value = (const char *)tables->page + attribute->value_at;
            if (attribute->name_length == 8 && memcmp(tables->page + attribute->name_at, "encoding", 8) == 0 &&
                ((attribute->value_length == 9 && strncasecmp(value, "text/html", 9) == 0) ||
                 (attribute->value_length == 21 && strncasecmp(value, "application/xhtml+xml", 21) == 0)))
                builder->nodes[number].flags |= NODE_INTEGRATION;
        }
    }
    if (tag->is_self_closing)
        pop(builder);
}

static bool has_value(const Builder *builder, const Tag *tag, const char *name, const char *value)
{
    const Tables *tables = builder->tables;
    const Attribute *attribute = tables->attributes + tag->attribute_first;
    for (const Attribute *end = attribute + tag->attribute_count; attribute < end; attribute++)
        if (attribute->name_length == strlen(name) &&
            memcmp(tables->page + attribute->name_at, name, attribute->name_length) == 0)
            return value == NULL ||
                   (attribute->value_length == strlen(value) &&
                    strncasecmp((const char *)tables->page + attribute->value_at, value, attribute->value_length) == 0);
    return false;
}

static void start_formatting(Builder *builder, const Tag *tag)
{
    reconstruct(builder);
    add_formatting(builder, insert_element(builder, tag, HTML_SPACE));
}

static void start_a(Builder *builder, const Tag *tag)
{
    for (uint32_t at = builder->formatting_count; at-- > 0 && builder->formatting[at] != NOBODY;) {
        uint32_t number = builder->formatting[at];
        if (builder->nodes[number].kind != TAG_A)
            continue;
        end_formatting(builder, tag);
        uint32_t still = find_formatting(builder, number);
        if (still != NOBODY)
            forget_formatting_at(builder, still);
        if (builder->nodes[number].flags & NODE_OPEN)
            remove_open(builder, number);
        break;
    }
    start_formatting(builder, tag);
}

static void start_frameset_in_body(Builder *builder, const Tag *tag)
{
    if (builder->depth < 2 || !is_html(&builder->nodes[builder->stack[1]], TAG_BODY) || !builder->is_frameset_ok)
        return;
    detach(builder, builder->stack[1]);
    while (builder->depth > 1)
        pop(builder);
    insert_element(builder, tag, HTML_SPACE);
    builder->mode = IN_FRAMESET;
}

static void start_in_select(Builder *builder, const Tag *tag)
{
    bool in_select = is_in_scope(builder, TAG_SELECT, IN_SCOPE);
    if (in_select)
        imply_ends(builder, tag->kind == TAG_OPTION ? (uint8_t)TAG_OPTGROUP : (uint8_t)NO_KIND);
    else if (is_html(current(builder), TAG_OPTION))
        pop(builder);
    reconstruct(builder);
    insert_element(builder, tag, HTML_SPACE);
}

static void start_in_body(Builder *builder, Tag *tag)
{
    uint16_t rules = tag->kind == NO_KIND ? 0 : KINDS[tag->kind].rules;
    if (rules & CLOSES_P) {
        close_p(builder);
        insert_element(builder, tag, HTML_SPACE);
        return;
    }
    if (rules & HEAD_CONTENT) {
        start_head_content(builder, tag);
        return;
    }
    if (rules & NEUTRAL_VOID) {
        reconstruct(builder);
        insert_void(builder, tag);
        builder->is_frameset_ok = false;
        return;
    }
    if (rules & HEADING) {
        close_p(builder);
        if (rules_of(current(builder)) & HEADING)
            pop(builder);
        insert_element(builder, tag, HTML_SPACE);
        return;
    }
    switch (tag->kind) {
    case TAG_A:
        start_a(builder, tag);
        return;
    case TAG_NOBR:
        reconstruct(builder);
        if (is_in_scope(builder, TAG_NOBR, IN_SCOPE))
            end_formatting(builder, tag);
        start_formatting(builder, tag);
        return;
    case TAG_LI:
        start_item(builder, tag, TAG_LI, TAG_LI);
        return;
    case TAG_DD:
    case TAG_DT:
        start_item(builder, tag, TAG_DD, TAG_DT);
        return;
    case TAG_HTML:
        if (!has_open(builder, TAG_TEMPLATE))
            merge_attributes(builder, builder->stack[0], tag);
        return;
    case TAG_BODY:
        if (builder->depth > 1 && is_html(&builder->nodes[builder->stack[1]], TAG_BODY) &&
            !has_open(builder, TAG_TEMPLATE)) {
            builder->is_frameset_ok = false;
            merge_attributes(builder, builder->stack[1], tag);
        }
        return;
    case TAG_FRAMESET:
        start_frameset_in_body(builder, tag);
        return;
    case TAG_PRE:
    case TAG_LISTING:
        close_p(builder);
        insert_element(builder, tag, HTML_SPACE);
        builder->skips_newline = true;
        builder->is_frameset_ok = false;
        return;
    case TAG_FORM: {
        bool in_template = has_open(builder, TAG_TEMPLATE);
        if (builder->form != NOBODY && !in_template)
            return;
        close_p(builder);
        uint32_t number = insert_element(builder, tag, HTML_SPACE);
        if (!in_template)
            builder->form = number;
        return;
    }
    case TAG_PLAINTEXT:
        close_p(builder);
        read_raw_text(builder, tag, false);
        return;
    case TAG_BUTTON:
        if (is_in_scope(builder, TAG_BUTTON, IN_SCOPE)) {
            imply_ends(builder, NO_KIND);
            pop_until(builder, TAG_BUTTON);
        }
        reconstruct(builder);
        insert_element(builder, tag, HTML_SPACE);
        builder->is_frameset_ok = false;
        return;
    case TAG_APPLET:
    case TAG_MARQUEE:
    case TAG_OBJECT:
        reconstruct(builder);
        insert_element(builder, tag, HTML_SPACE);
        add_marker(builder);
        builder->is_frameset_ok = false;
        return;
    case TAG_TABLE:
        if (!builder->is_quirky)
            close_p(builder);
        insert_element(builder, tag, HTML_SPACE);
        builder->is_frameset_ok = false;
        builder->mode = IN_TABLE;
        return;
    case TAG_INPUT:
        if (is_in_scope(builder, TAG_SELECT, IN_SCOPE))
            pop_until(builder, TAG_SELECT);
        reconstruct(builder);
        insert_void(builder, tag);
        if (!has_value(builder, tag, "type", "hidden"))
            builder->is_frameset_ok = false;
        return;
    case TAG_PARAM:
    case TAG_SOURCE:
    case TAG_TRACK:
        insert_void(builder, tag);
        return;
    case TAG_HR:
        close_p(builder);
        if (is_in_scope(builder, TAG_SELECT, IN_SCOPE))
            imply_ends(builder, NO_KIND);
        insert_void(builder, tag);
        builder->is_frameset_ok = false;
        return;
    case TAG_IMAGE: {
        Byte *name = reserve(builder, 3);
        memcpy(name, "img", 3);
        tag->name_at = builder->tables->used;
        builder->tables->used += 3;
        tag->name_length = 3;
        tag->kind = TAG_IMG;
        start_in_body(builder, tag);
        return;
    }
    case TAG_TEXTAREA:
        builder->is_frameset_ok = false;
        read_raw_text(builder, tag, true);
        return;
    case TAG_XMP:
        close_p(builder);
        reconstruct(builder);
        builder->is_frameset_ok = false;
        read_raw_text(builder, tag, false);
        return;
    case TAG_IFRAME:
        builder->is_frameset_ok = false;
        read_raw_text(builder, tag, false);
        return;
    case TAG_NOEMBED:
        read_raw_text(builder, tag, false);
        return;
    case TAG_SELECT:
        if (is_in_scope(builder, TAG_SELECT, IN_SCOPE)) {
            pop_until(builder, TAG_SELECT);
            return;
        }
        reconstruct(builder);
        insert_element(builder, tag, HTML_SPACE);
        builder->is_frameset_ok = false;
        return;
    case TAG_OPTION:
    case TAG_OPTGROUP:
        start_in_select(builder, tag);
        return;
    case TAG_RB:
    case TAG_RTC:
    case TAG_RP:
    case TAG_RT:
        if (is_in_scope(builder, TAG_RUBY, IN_SCOPE))
            imply_ends(builder, tag->kind == TAG_RP || tag->kind == TAG_RT ? (uint8_t)TAG_RTC : (uint8_t)NO_KIND);
        insert_element(builder, tag, HTML_SPACE);
        return;
    case TAG_MATH:
        reconstruct(builder);
        start_foreign(builder, tag, MATH_SPACE);
        return;
    case TAG_SVG:
        reconstruct(builder);
        start_foreign(builder, tag, SVG_SPACE);
        return;
    case TAG_CAPTION:
    case TAG_COL:
    case TAG_COLGROUP:
    case TAG_FRAME:
    case TAG_HEAD:
    case TAG_TBODY:
    case TAG_TD:
    case TAG_TFOOT:
    case TAG_TH:
    case TAG_THEAD:
    case TAG_TR:
        return;
    default:
        if (rules & FORMATTING) {
            start_formatting(builder, tag);
            return;
        }
        reconstruct(builder);
        insert_element(builder, tag, HTML_SPACE);
    }
}

static void end_form(Builder *builder)
{
    if (has_open(builder, TAG_TEMPLATE)) {
        if (!is_in_scope(builder, TAG_FORM, IN_SCOPE))
            return;
        imply_ends(builder, NO_KIND);
        pop_until(builder, TAG_FORM);
        return;
    }
    uint32_t form = builder->form;
    builder->form = NOBODY;
    if (form == NOBODY || !is_node_in_scope(builder, form))
        return;
    imply_ends(builder, NO_KIND);
    remove_open(builder, form);
}

static void end_in_body(Builder *builder, const Tag *tag)
{
    uint16_t rules = tag->kind == NO_KIND ? 0 : KINDS[tag->kind].rules;
    if (rules & CLOSED_BLOCK) {
        if (!is_in_scope(builder, tag->kind, IN_SCOPE))
            return;
        imply_ends(builder, NO_KIND);
        pop_until(builder, tag->kind);
        return;
    }
    if (rules & FORMATTING) {
        end_formatting(builder, tag);
        return;
    }
    if (rules & HEADING) {
        if (!is_heading_in_scope(builder))
            return;
        imply_ends(builder, NO_KIND);
        pop_until_heading(builder);
        return;
    }
    switch (tag->kind) {
    case TAG_P:
        if (!is_in_scope(builder, TAG_P, IN_BUTTON_SCOPE))
            insert_implied(builder, TAG_P);
        close_p(builder);
        return;
    case TAG_LI:
        if (!is_in_scope(builder, TAG_LI, IN_LIST_SCOPE))
            return;
        imply_ends(builder, TAG_LI);
        pop_until(builder, TAG_LI);
        return;
    case TAG_DD:
    case TAG_DT:
        if (!is_in_scope(builder, tag->kind, IN_SCOPE))
            return;
        imply_ends(builder, tag->kind);
        pop_until(builder, tag->kind);
        return;
    case TAG_BODY:
        if (is_in_scope(builder, TAG_BODY, IN_SCOPE))
            builder->mode = AFTER_BODY;
        return;
    case TAG_HTML:
        if (is_in_scope(builder, TAG_BODY, IN_SCOPE))
            builder->mode = AFTER_AFTER_BODY;
        return;
    case TAG_FORM:
        end_form(builder);
        return;
    case TAG_APPLET:
    case TAG_MARQUEE:
    case TAG_OBJECT:
        if (!is_in_scope(builder, tag->kind, IN_SCOPE))
            return;
        imply_ends(builder, NO_KIND);
        pop_until(builder, tag->kind);
        clear_to_marker(builder);
        return;
    case TAG_BR:
        reconstruct(builder);
        insert_implied(builder, TAG_BR);
        pop(builder);
        builder->is_frameset_ok = false;
        return;
    case TAG_TEMPLATE:
        end_template(builder);
        return;
    default:
        end_any_other(builder, tag);
    }
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static void start_fostered(Builder *builder, Tag *tag)
{
    builder->fosters = true;
    start_in_body(builder, tag);
    builder->fosters = false;
}

static void end_fostered(Builder *builder, const Tag *tag)
{
    builder->fosters = true;
    end_in_body(builder, tag);
    builder->fosters = false;
}

/* Rules that say "process the token again" return true: the mode is another one by then. */

static bool start_in_table(Builder *builder, Tag *tag)
{
    switch (tag->kind) {
    case TAG_CAPTION:
        clear_to(builder, TAG_TABLE, TAG_TABLE, TAG_TABLE);
        add_marker(builder);
        insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_CAPTION;
        return false;
    case TAG_COLGROUP:
        clear_to(builder, TAG_TABLE, TAG_TABLE, TAG_TABLE);
        insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_COLUMN_GROUP;
        return false;
    case TAG_COL:
        clear_to(builder, TAG_TABLE, TAG_TABLE, TAG_TABLE);
        insert_implied(builder, TAG_COLGROUP);
        builder->mode = IN_COLUMN_GROUP;
        return true;
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        clear_to(builder, TAG_TABLE, TAG_TABLE, TAG_TABLE);
        insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_TABLE_BODY;
        return false;
    case TAG_TD:
    case TAG_TH:
    case TAG_TR:
        clear_to(builder, TAG_TABLE, TAG_TABLE, TAG_TABLE);
        insert_implied(builder, TAG_TBODY);
        builder->mode = IN_TABLE_BODY;
        return true;
    case TAG_TABLE:
        if (!is_in_scope(builder, TAG_TABLE, IN_TABLE_SCOPE))
            return false;
        pop_until(builder, TAG_TABLE);
        reset_mode(builder);
        return true;
    case TAG_STYLE:
    case TAG_SCRIPT:
    case TAG_TEMPLATE:
        start_head_content(builder, tag);
        return false;
    case TAG_INPUT:
        if (!has_value(builder, tag, "type", "hidden"))
            break;
        insert_void(builder, tag);
        return false;
    case TAG_FORM:
        if (has_open(builder, TAG_TEMPLATE) || builder->form != NOBODY)
            return false;
        builder->form = insert_element(builder, tag, HTML_SPACE);
        pop(builder);
        return false;
    default:
        break;
    }
    start_fostered(builder, tag);
    return false;
}

static bool is_table_end(const Tag *tag)
{
    switch (tag->kind) {
    case TAG_BODY:
    case TAG_CAPTION:
    case TAG_COL:
    case TAG_COLGROUP:
    case TAG_HTML:
    case TAG_TBODY:
    case TAG_TD:
    case TAG_TFOOT:
    case TAG_TH:
    case TAG_THEAD:
    case TAG_TR:
        return true;
    default:
        return false;
    }
}

static void end_in_table(Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_TABLE) {
        if (!is_in_scope(builder, TAG_TABLE, IN_TABLE_SCOPE))
            return;
        pop_until(builder, TAG_TABLE);
        reset_mode(builder);
    } else if (tag->kind == TAG_TEMPLATE) {
        end_template(builder);
    } else if (!is_table_end(tag)) {
        end_fostered(builder, tag);
    }
}

static bool is_table_start(const Tag *tag)
{
    return tag->kind == TAG_CAPTION || tag->kind == TAG_COL || tag->kind == TAG_COLGROUP || tag->kind == TAG_TBODY ||
           tag->kind == TAG_TD || tag->kind == TAG_TFOOT || tag->kind == TAG_TH || tag->kind == TAG_THEAD ||
           tag->kind == TAG_TR;
}

static bool close_caption(Builder *builder)
{
    if (!is_in_scope(builder, TAG_CAPTION, IN_TABLE_SCOPE))
        return false;
    imply_ends(builder, NO_KIND);
    pop_until(builder, TAG_CAPTION);
    clear_to_marker(builder);
    builder->mode = IN_TABLE;
    return true;
}

static bool close_column_group(Builder *builder)
{
    if (!is_html(current(builder), TAG_COLGROUP))
        return false;
    pop(builder);
    builder->mode = IN_TABLE;
    return true;
}

static bool close_table_body(Builder *builder)
{
    if (!is_in_scope(builder, TAG_TBODY, IN_TABLE_SCOPE) && !is_in_scope(builder, TAG_THEAD, IN_TABLE_SCOPE) &&
        !is_in_scope(builder, TAG_TFOOT, IN_TABLE_SCOPE))
        return false;
    clear_to(builder, TAG_TBODY, TAG_TFOOT, TAG_THEAD);
    pop(builder);
    builder->mode = IN_TABLE;
    return true;
}

static bool close_row(Builder *builder)
{
    if (!is_in_scope(builder, TAG_TR, IN_TABLE_SCOPE))
        return false;
    clear_to(builder, TAG_TR, TAG_TR, TAG_TR);
    pop(builder);
    builder->mode = IN_TABLE_BODY;
    return true;
}

static void close_cell(Builder *builder)
{
    imply_ends(builder, NO_KIND);
    while (builder->depth > 1) {
        bool is_last = is_html(current(builder), TAG_TD) || is_html(current(builder), TAG_TH);
        pop(builder);
        if (is_last)
            break;
    }
    clear_to_marker(builder);
    builder->mode = IN_ROW;
}

static bool start_in_table_body(Builder *builder, Tag *tag)
{
    switch (tag->kind) {
    case TAG_TR:
        clear_to(builder, TAG_TBODY, TAG_TFOOT, TAG_THEAD);
        insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_ROW;
        return false;
    case TAG_TD:
    case TAG_TH:
        clear_to(builder, TAG_TBODY, TAG_TFOOT, TAG_THEAD);
        insert_implied(builder, TAG_TR);
        builder->mode = IN_ROW;
        return true;
    case TAG_CAPTION:
    case TAG_COL:
    case TAG_COLGROUP:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        return close_table_body(builder);
    default:
        return start_in_table(builder, tag);
    }
}

static bool end_in_table_body(Builder *builder, const Tag *tag)
{
    switch (tag->kind) {
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        if (is_in_scope(builder, tag->kind, IN_TABLE_SCOPE)) {
            clear_to(builder, TAG_TBODY, TAG_TFOOT, TAG_THEAD);
            pop(builder);
            builder->mode = IN_TABLE;
        }
        return false;
    case TAG_TABLE:
        return close_table_body(builder);
    default:
        end_in_table(builder, tag);
        return false;
    }
}

static bool start_in_row(Builder *builder, Tag *tag)
{
    switch (tag->kind) {
    case TAG_TD:
    case TAG_TH:
        clear_to(builder, TAG_TR, TAG_TR, TAG_TR);
        insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_CELL;
        add_marker(builder);
        return false;
    case TAG_CAPTION:
    case TAG_COL:
    case TAG_COLGROUP:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
    case TAG_TR:
        return close_row(builder);
    default:
        return start_in_table(builder, tag);
    }
}

static bool end_in_row(Builder *builder, const Tag *tag)
{
    switch (tag->kind) {
    case TAG_TR:
        close_row(builder);
        return false;
    case TAG_TABLE:
        return close_row(builder);
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        return is_in_scope(builder, tag->kind, IN_TABLE_SCOPE) && close_row(builder);
    default:
        end_in_table(builder, tag);
        return false;
    }
}

static bool end_in_cell(Builder *builder, const Tag *tag)
{
    switch (tag->kind) {
    case TAG_TD:
    case TAG_TH:
        if (is_in_scope(builder, tag->kind, IN_TABLE_SCOPE)) {
            imply_ends(builder, NO_KIND);
            pop_until(builder, tag->kind);
            clear_to_marker(builder);
            builder->mode = IN_ROW;
        }
        return false;
    case TAG_BODY:
    case TAG_CAPTION:
    case TAG_COL:
    case TAG_COLGROUP:
    case TAG_HTML:
        return false;
    case TAG_TABLE:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
    case TAG_TR:
        if (!is_in_scope(builder, tag->kind, IN_TABLE_SCOPE))
            return false;
        close_cell(builder);
        return true;
    default:
        end_in_body(builder, tag);
        return false;
    }
}

/* ---- drawings and formulas ----------------------------------------------------------------------------------------- */

static bool is_foreign(const Builder *builder)
{
    return builder->depth > 0 && current(builder)->space != HTML_SPACE;
}

static void leave_foreign(Builder *builder)
{
    while (is_foreign(builder) && !is_math_text(current(builder)) && !holds_html(current(builder)))
        pop(builder);
}

/* Whether a start tag is one of the drawing or formula it stands in. */
static bool belongs_to_foreign(const Builder *builder, const Tag *tag)
{
    const Node *node = current(builder);
    if (is_math_text(node) && tag->kind != TAG_MGLYPH && tag->kind != TAG_MALIGNMARK)
        return false;
    if (node->space == MATH_SPACE && node->kind == TAG_ANNOTATION_XML && tag->kind == TAG_SVG)
        return false;
    return !holds_html(node);
}

static bool breaks_out(const Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_FONT)
        return has_value(builder, tag, "color", NULL) || has_value(builder, tag, "face", NULL) ||
               has_value(builder, tag, "size", NULL);
    return tag->kind != NO_KIND && KINDS[tag->kind].rules & BREAKOUT;
}

/* False when the rules of the mode decide. */
static bool end_in_foreign(Builder *builder, const Tag *tag)
{
    if (tag->kind == TAG_BR || tag->kind == TAG_P) {
        leave_foreign(builder);
        return false;
    }
    for (uint32_t at = builder->depth; at-- > 1;) {
        const Node *node = &builder->nodes[builder->stack[at]];
        if (node->space == HTML_SPACE)
            return false;
        if (is_same_text(builder, node->at, node->length, tag->name_at, tag->name_length)) {
            while (builder->depth > at)
                pop(builder);
            return true;
        }
    }
    return false;
}

/* ---- before the body ----------------------------------------------------------------------------------------------- */

static void create_root(Builder *builder, const Tag *tag)
{
    builder->stack[0] = 0;
    builder->depth = 1;
    uint32_t number = tag ? insert_element(builder, tag, HTML_SPACE) : insert_implied(builder, TAG_HTML);
    builder->stack[0] = number; /* in place of the document */
    builder->depth = 1;
    builder->mode = BEFORE_HEAD;
}

/* What every token implies that does not belong before the body: each call goes one mode further. */
static void imply_next(Builder *builder)
{
    switch (builder->mode) {
    case INITIAL:
        builder->is_quirky = true;
        builder->mode = BEFORE_HTML;
        break;
    case BEFORE_HTML:
        create_root(builder, NULL);
        break;
    case BEFORE_HEAD:
        builder->head = insert_implied(builder, TAG_HEAD);
        builder->mode = IN_HEAD;
        break;
    case IN_HEAD_NOSCRIPT:
        pop(builder);
        builder->mode = IN_HEAD;
        break;
    case IN_HEAD:
        pop(builder);
        builder->mode = AFTER_HEAD;
        break;
    default: /* AFTER_HEAD */
        insert_implied(builder, TAG_BODY);
        builder->mode = IN_BODY;
    }
}

static bool is_before_body(const Builder *builder) { return builder->mode <= AFTER_HEAD; }

/* True when the tag is done with. */
static bool start_before_body(Builder *builder, Tag *tag)
{
    if (builder->mode == INITIAL)
        return false;
    if (tag->kind == TAG_HTML) {
        if (builder->mode == BEFORE_HTML)
            create_root(builder, tag);
        else
            start_in_body(builder, tag);
        return true;
    }
    switch (builder->mode) {
    case BEFORE_HEAD:
        if (tag->kind != TAG_HEAD)
            return false;
        builder->head = insert_element(builder, tag, HTML_SPACE);
        builder->mode = IN_HEAD;
        return true;
    case IN_HEAD:
        if (is_head_content(tag)) {
            start_head_content(builder, tag);
            return true;
        }
        if (tag->kind == TAG_NOSCRIPT) {
            insert_element(builder, tag, HTML_SPACE);
            builder->mode = IN_HEAD_NOSCRIPT;
            return true;
        }
        return tag->kind == TAG_HEAD;
    case IN_HEAD_NOSCRIPT:
        switch (tag->kind) {
        case TAG_BASEFONT:
        case TAG_BGSOUND:
        case TAG_LINK:
        case TAG_META:
        case TAG_NOFRAMES:
        case TAG_STYLE:
            start_head_content(builder, tag);
            return true;
        case TAG_HEAD:
        case TAG_NOSCRIPT:
            return true;
        default:
            return false;
        }
    case AFTER_HEAD:
        if (tag->kind == TAG_BODY || tag->kind == TAG_FRAMESET) {
            insert_element(builder, tag, HTML_SPACE);
            builder->mode = tag->kind == TAG_BODY ? IN_BODY : IN_FRAMESET;
            builder->is_frameset_ok &= tag->kind == TAG_FRAMESET;
            return true;
        }
        if (is_head_content(tag)) {
            push(builder, builder->head);
            start_head_content(builder, tag);
            remove_open(builder, builder->head);
            return true;
        }
        return tag->kind == TAG_HEAD;
    default:
        return false;
    }
}

static bool end_before_body(Builder *builder, const Tag *tag)
{
    bool implies = tag->kind == TAG_HEAD || tag->kind == TAG_BODY || tag->kind == TAG_HTML || tag->kind == TAG_BR;
    switch (builder->mode) {
    case INITIAL:
        return false;
    case BEFORE_HTML:
    case BEFORE_HEAD:
        return !implies;
    case IN_HEAD:
        if (tag->kind == TAG_HEAD) {
            pop(builder);
            builder->mode = AFTER_HEAD;
            return true;
        }
        break;
    case IN_HEAD_NOSCRIPT:
        if (tag->kind == TAG_NOSCRIPT) {
            pop(builder);
            builder->mode = IN_HEAD;
        }
        return tag->kind != TAG_BR;
    default:
        implies &= tag->kind != TAG_HEAD;
    }
    if (tag->kind == TAG_TEMPLATE)
        end_template(builder);
    return !implies;
}

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

static bool start_in_template(Builder *builder, Tag *tag)
{
    if (is_head_content(tag)) {
        start_head_content(builder, tag);
        return false;
    }
    switch (tag->kind) {
    case TAG_CAPTION:
    case TAG_COLGROUP:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        replace_template_mode(builder, IN_TABLE);
        break;
    case TAG_COL:
        replace_template_mode(builder, IN_COLUMN_GROUP);
        break;
    case TAG_TR:
        replace_template_mode(builder, IN_TABLE_BODY);
        break;
    case TAG_TD:
    case TAG_TH:
        replace_template_mode(builder, IN_ROW);
        break;
    default:
        replace_template_mode(builder, IN_BODY);
    }
    return true;
}

static bool start_in_column_group(Builder *builder, Tag *tag)
{
    if (tag->kind == TAG_HTML) {
        start_in_body(builder, tag);
        return false;
    }
    if (tag->kind == TAG_COL) {
        insert_void(builder, tag);
        return false;
    }
    if (tag->kind == TAG_TEMPLATE) {
        start_head_content(builder, tag);
        return false;
    }
    return close_column_group(builder);
}

static void start_in_frameset(Builder *builder, Tag *tag)
{
    if (tag->kind == TAG_HTML)
        start_in_body(builder, tag);
    else if (tag->kind == TAG_NOFRAMES)
        start_head_content(builder, tag);
    else if (builder->mode == IN_FRAMESET && tag->kind == TAG_FRAMESET)
        insert_element(builder, tag, HTML_SPACE);
    else if (builder->mode == IN_FRAMESET && tag->kind == TAG_FRAME)
        insert_void(builder, tag);
}

static bool start_once(Builder *builder, Tag *tag)
{
    switch (builder->mode) {
    case IN_BODY:
        start_in_body(builder, tag);
        return false;
    case IN_TABLE:
        return start_in_table(builder, tag);
    case IN_TABLE_BODY:
        return start_in_table_body(builder, tag);
    case IN_ROW:
        return start_in_row(builder, tag);
    case IN_CELL:
        if (is_table_start(tag)) {
            if (!is_in_scope(builder, TAG_TD, IN_TABLE_SCOPE) && !is_in_scope(builder, TAG_TH, IN_TABLE_SCOPE))
                return false;
            close_cell(builder);
            return true;
        }
        start_in_body(builder, tag);
        return false;
    case IN_CAPTION:
        if (is_table_start(tag))
            return close_caption(builder);
        start_in_body(builder, tag);
        return false;
    case IN_COLUMN_GROUP:
        return start_in_column_group(builder, tag);
    case IN_TEMPLATE:
        return start_in_template(builder, tag);
    case AFTER_BODY:
    case AFTER_AFTER_BODY:
        if (tag->kind == TAG_HTML) {
            start_in_body(builder, tag);
            return false;
        }
        builder->mode = IN_BODY;
        return true;
    case IN_FRAMESET:
    case AFTER_FRAMESET:
    case AFTER_AFTER_FRAMESET:
        start_in_frameset(builder, tag);
        return false;
    default:
        if (start_before_body(builder, tag))
            return false;
        imply_next(builder);
        return true;
    }
}

static void on_start(Builder *builder, Tag *tag)
{
    builder->skips_newline = false;
    if (is_foreign(builder) && belongs_to_foreign(builder, tag)) {
        if (!breaks_out(builder, tag)) {
            start_foreign(builder, tag, current(builder)->space);
            return;
        }
        leave_foreign(builder);
    }
    while (start_once(builder, tag))
        ;
}

static bool end_once(Builder *builder, const Tag *tag)
{
    switch (builder->mode) {
    case IN_BODY:
        end_in_body(builder, tag);
        return false;
    case IN_TABLE:
        end_in_table(builder, tag);
        return false;
    case IN_TABLE_BODY:
        return end_in_table_body(builder, tag);
    case IN_ROW:
        return end_in_row(builder, tag);
    case IN_CELL:
        return end_in_cell(builder, tag);
    case IN_CAPTION:
        if (tag->kind == TAG_CAPTION) {
            close_caption(builder);
            return false;
        }
        if (tag->kind == TAG_TABLE)
            return close_caption(builder);
        if (!is_table_end(tag))
            end_in_body(builder, tag);
        return false;
    case IN_COLUMN_GROUP:
        if (tag->kind == TAG_TEMPLATE) {
            end_template(builder);
            return false;
        }
        if (tag->kind == TAG_COL)
            return false;
        return close_column_group(builder) && tag->kind != TAG_COLGROUP;
    case IN_TEMPLATE:
        if (tag->kind == TAG_TEMPLATE)
            end_template(builder);
        return false;
    case AFTER_BODY:
        if (tag->kind == TAG_HTML) {
            builder->mode = AFTER_AFTER_BODY;
            return false;
        }
        builder->mode = IN_BODY;
        return true;
    case AFTER_AFTER_BODY:
        builder->mode = IN_BODY;
        return true;
    case IN_FRAMESET:
        if (tag->kind == TAG_FRAMESET && builder->depth > 1) {
            pop(builder);
            if (!is_html(current(builder), TAG_FRAMESET))
                builder->mode = AFTER_FRAMESET;
        }
        return false;
    case AFTER_FRAMESET:
        if (tag->kind == TAG_HTML)
            builder->mode = AFTER_AFTER_FRAMESET;
        return false;
    case AFTER_AFTER_FRAMESET:
        return false;
    default:
        if (end_before_body(builder, tag))
            return false;
        imply_next(builder);
        return true;
    }
}

static void on_end(Builder *builder, const Tag *tag)
{
    builder->skips_newline = false;
    if (is_foreign(builder) && end_in_foreign(builder, tag))
        return;
    while (end_once(builder, tag))
        ;
}

static uint32_t count_gaps(const Builder *builder, uint32_t at, uint32_t length)
{
    const Byte *text = builder->tables->page + at;
    uint32_t gaps = 0;
    while (gaps < length && (text[gaps] == ' ' || text[gaps] == '\n' || text[gaps] == '\t' || text[gaps] == '\f' ||
                             text[gaps] == '\r'))
        gaps++;
    return gaps;
}

static void text_in_body(Builder *builder, uint32_t at, uint32_t length)
{
    reconstruct(builder);
    insert_text(builder, at, length);
    if (builder->is_frameset_ok && count_gaps(builder, at, length) < length)
        builder->is_frameset_ok = false;
}

static void text_in_table(Builder *builder, uint32_t at, uint32_t length)
{
    if ((rules_of(current(builder)) & TABLE_PART || is_html(current(builder), TAG_TEMPLATE)) &&
        count_gaps(builder, at, length) == length) {
        insert_text(builder, at, length);
        return;
    }
    builder->fosters = true;
    text_in_body(builder, at, length);
    builder->fosters = false;
}

static void on_text(Builder *builder, uint32_t at, uint32_t length)
{
    if (builder->skips_newline && length && builder->tables->page[at] == '\n') {
        at++;
        length--;
    }
    builder->skips_newline = false;
    if (is_foreign(builder) && !is_math_text(current(builder)) && !holds_html(current(builder))) {
        insert_text(builder, at, length);
        builder->is_frameset_ok &= count_gaps(builder, at, length) == length;
        return;
    }
    while (length) {
        uint32_t gaps;
        switch (builder->mode) {
        case IN_BODY:
        case IN_CELL:
        case IN_CAPTION:
        case IN_TEMPLATE:
            text_in_body(builder, at, length);
            return;
        case IN_TABLE:
        case IN_TABLE_BODY:
        case IN_ROW:
            text_in_table(builder, at, length);
            return;
        case AFTER_BODY:
        case AFTER_AFTER_BODY:
            if (count_gaps(builder, at, length) < length)
                builder->mode = IN_BODY;
            text_in_body(builder, at, length);
            return;
        case IN_FRAMESET:
        case AFTER_FRAMESET:
        case AFTER_AFTER_FRAMESET:
            return;
        default:
            gaps = count_gaps(builder, at, length);
            if (gaps && builder->mode > BEFORE_HEAD)
                insert_text(builder, at, gaps);
            at += gaps;
            length -= gaps;
            if (length == 0)
                return;
            if (builder->mode != IN_COLUMN_GROUP)
                imply_next(builder);
            else if (!close_column_group(builder))
                return;
        }
    }
}

/* A comment has no text, but it parts the texts around it. */
static void on_comment(Builder *builder)
{
    builder->skips_newline = false;
    if (builder->depth == 0 || builder->mode == AFTER_AFTER_BODY)
        return;
    uint32_t parent = builder->stack[builder->mode == AFTER_BODY ? 0 : builder->depth - 1];
    uint32_t last = builder->nodes[parent].last;
    if (last != NOBODY && builder->nodes[last].type == NODE_TEXT)
        builder->nodes[last].flags |= NODE_SEALED;
}

static void on_end_of_page(Builder *builder)
{
    while (has_open(builder, TAG_TEMPLATE) || is_before_body(builder)) {
        if (has_open(builder, TAG_TEMPLATE)) {
            pop_until(builder, TAG_TEMPLATE);
            clear_to_marker(builder);
            builder->template_count -= builder->template_count > 0;
            reset_mode(builder);
        } else {
            imply_next(builder);
        }
    }
}

#endif
