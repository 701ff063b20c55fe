"""The report as one HTML file: no scripts, nothing loaded from elsewhere; readable on a phone and on paper. Pure.

Everything that comes from the site is escaped, and only http and https URLs become links.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from importlib import resources

from forager.site_audit.checks import COMPARED
from forager.site_audit.models import ComparedRow, Comparison, DepthRow, Difference, Example, Finding, SiteReport

SEVERITIES = {"error": "Errors", "warning": "Warnings", "notice": "Notices"}
DEPTH_HEADS = ("depth", "pages", "ok", "redirects", "4xx", "5xx", "no answer", "robots", "not visited")
LONGEST_SHOWN = 200


def render_report(report: SiteReport) -> str:
    style = resources.files("forager.site_audit").joinpath("report.css").read_text(encoding="utf-8")
    site = escape(report.site)
    body = "\n".join(_sections(report))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Site report: {site}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _sections(report: SiteReport) -> Iterator[str]:
    yield _header(report)
    yield _summary(report)
    if report.comparison is not None:
        yield _compare(report.comparison)
    for finding in report.findings:
        if finding.total:
            yield _finding(finding)
    yield _depths(report.status_by_depth)
    clean = [finding.title for finding in report.findings if not finding.total]
    if clean:
        yield f"<section><h2>Nothing found</h2><p>{escape('; '.join(clean))}.</p></section>"
    if report.notes:
        yield f"<section><h2>What this report cannot say</h2>{_list(report.notes)}</section>"


def _header(report: SiteReport) -> str:
    first, last = _day(report.first_visit_at), _day(report.last_visit_at)
    visits = f" on {last}" if first == last else f" from {first} to {last}"
    return (
        f"<header><h1>Site report: {_link(report.base_url, report.site)}</h1>"
        f"<p>{report.pages:,} pages known, {report.visited:,} visited{visits}, {report.html:,} read as HTML. "
        f"Written on {report.created_at:%Y-%m-%d at %H:%M} UTC.</p></header>"
    )


def _summary(report: SiteReport) -> str:
    parts = []
    for severity, title in SEVERITIES.items():
        found = [each for each in report.findings if each.severity == severity and each.total]
        items = "".join(
            f'<li><a href="#{each.name}">{escape(each.title)}</a> <b>{each.total:,}</b></li>' for each in found
        )
        shown = f"<ul>{items}</ul>" if items else "<p>None.</p>"
        parts.append(f'<div class="card {severity}"><h2>{title}</h2>{shown}</div>')
    return f'<nav class="cards">{"".join(parts)}</nav>'


def _finding(finding: Finding) -> str:
    rows = "".join(f"<li>{_example(each, finding.others)}</li>" for each in finding.examples)
    more = finding.total - len(finding.examples)
    rest = f'<p class="more">and {more:,} more; the CSV has all of them.</p>' if more > 0 else ""
    return (
        f'<section id="{finding.name}" class="{finding.severity}">'
        f"<h2>{escape(finding.title)} <b>{finding.total:,}</b></h2>"
        f"<p>{escape(finding.advice)}</p><ol>{rows}</ol>{rest}</section>"
    )


def _example(example: Example, label: str) -> str:
    value = f' <span class="value">{escape(_cut(example.value))}</span>' if example.value else ""
    if not example.others:
        return f"{_link(example.url)}{value}"
    more = example.others_total - len(example.others)
    others = "".join(f"<li>{_link(url)}</li>" for url in example.others)
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f'{_link(example.url)}{value}<div class="others"><span>{escape(label)}</span><ul>{others}{rest}</ul></div>'


def _depths(rows: Sequence[DepthRow]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in DEPTH_HEADS)
    lines = "".join("<tr>" + "".join(f"<td>{number:,}</td>" for number in row) + "</tr>" for row in rows)
    return (
        '<section id="status_by_depth"><h2>Status by depth</h2>'
        "<p>Depth is the number of links from the start; the status is that of the newest visit.</p>"
        f"{_table(heads, lines)}</section>"
    )


def _table(heads: str, lines: str) -> str:
    head, body = f"<thead><tr>{heads}</tr></thead>", f"<tbody>{lines}</tbody>"
    return f'<div class="wide"><table>{head}{body}</table></div>'


def _compare(found: Comparison) -> str:
    lines = "".join(_difference_row(each) for each in found.differences)
    lists = "".join(_difference_lists(each) for each in found.differences)
    heads = "".join(f"<th>{head}</th>" for head in ("", "then", "now", "new", "fixed"))
    return (
        f'<section id="comparison"><h2>Since {found.since:%Y-%m-%d %H:%M} UTC</h2>'
        f"<p>{found.new_pages:,} pages are new, and the content of {found.changed_pages:,} changed.</p>"
        f'{_table(heads, lines)}{lists}<p class="more">Not compared:</p>{_list(found.not_comparable)}</section>'
    )


def _difference_row(each: Difference) -> str:
    numbers = "".join(f"<td>{number:,}</td>" for number in (each.before, each.now, each.new, each.fixed))
    return f"<tr><th>{escape(COMPARED[each.kind])}</th>{numbers}</tr>"


def _difference_lists(each: Difference) -> str:
    found = ""
    for state, rows, total in (("New", each.new_examples, each.new), ("Fixed", each.fixed_examples, each.fixed)):
        if rows:
            items = "".join(f"<li>{_changed(row)}</li>" for row in rows)
            rest = f"<li>and {total - len(rows):,} more</li>" if total > len(rows) else ""
            found += f"<h3>{state}: {escape(COMPARED[each.kind])}</h3><ul>{items}{rest}</ul>"
    return found


def _changed(row: ComparedRow) -> str:
    return (
        f'{_link(row.url)} <span class="value">{escape(row.past or "not visited")} → {escape(row.value or "–")}</span>'
    )


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def _link(url: str, text: str | None = None) -> str:
    shown = escape(text or _cut(url))
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" rel="nofollow noreferrer">{shown}</a>'


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _day(moment: datetime | None) -> str:
    return "no day" if moment is None else f"{moment:%Y-%m-%d}"
