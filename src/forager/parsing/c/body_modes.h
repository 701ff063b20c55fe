/* Tags in the body, and what belongs into the head wherever it stands (13.2.6.4.4 and 13.2.6.4.7 of the HTML standard). */

#ifndef FORAGER_BODY_MODES_H
#define FORAGER_BODY_MODES_H

#include <strings.h>

#include "adoption.h"

/* In tokenizer.h: it knows where the text of such an element ends. */
static void read_raw_text(Builder *builder, const Tag *tag, bool decodes);

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

#endif
