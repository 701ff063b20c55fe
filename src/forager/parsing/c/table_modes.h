/* Tags in tables, their captions, columns, rows and cells (13.2.6.4.9 to 13.2.6.4.15 of the HTML standard). */

#ifndef FORAGER_TABLE_MODES_H
#define FORAGER_TABLE_MODES_H

#include "body_modes.h"

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

#endif
