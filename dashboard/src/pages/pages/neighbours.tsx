/** A page among its neighbours: who links here, and where it leads. Every box is a link. */
import { useNavigate } from "@tanstack/react-router";
import { type MouseEvent, useEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { number, pathOf, words } from "../../ui/format";
import { type Box, fit, layOut } from "./layout";
import { addressOf } from "./parts";

type LinkRow = Schemas["Link"];
const MOST = 12;

/** Each page once, however often it links. */
function distinct(links: LinkRow[], self: string): LinkRow[] {
  return [...new Map(links.filter((link) => link.url !== self).map((link) => [link.url, link])).values()];
}

const TONES: Record<LinkRow["status"], string> = {
  fetched: "stroke-good",
  discovered: "stroke-info",
  queued: "stroke-info",
  failed: "stroke-bad",
  blocked: "stroke-bad",
  gone: "stroke-soft",
};

export function Neighbours({ links }: { links: Schemas["Links"] }) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!place.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  const ins = distinct(links.in?.links ?? [], links.url);
  const outs = distinct(links.out?.links ?? [], links.url);
  const shownIns = ins.slice(0, MOST);
  const shownOuts = outs.slice(0, MOST);
  const picture = layOut(Math.max(width, 240), shownIns.length, shownOuts.length);
  const { middle } = picture;
  return (
    <div>
      <div className="mb-2 flex justify-between gap-4 text-xs text-soft">
        <span>
          {number(links.in?.pages ?? 0)} {links.in?.pages === 1 ? "page links" : "pages link"} here
          {ins.length > MOST && `, ${MOST} drawn`}
        </span>
        <span className="text-right">
          leads to {number(links.out?.stored ?? 0)}
          {outs.length > MOST && `, ${MOST} drawn`}
        </span>
      </div>
      <div ref={place} className="w-full overflow-hidden" style={{ minHeight: picture.height }}>
        {width > 0 && (
          <svg
            width={picture.width}
            height={picture.height}
            role="group"
            aria-label="The page in the middle, pages that link to it before, pages it links to after"
          >
            <defs>
              <marker id="arrow" viewBox="0 0 6 6" refX="1" refY="3" markerWidth="5" markerHeight="5" orient="auto">
                <path d="M0 0 6 3 0 6z" className="fill-soft" />
              </marker>
            </defs>
            {picture.lines.map((line, index) => (
              <path
                key={index}
                d={line}
                fill="none"
                className="stroke-line"
                strokeWidth="1.5"
                markerEnd="url(#arrow)"
              />
            ))}
            {shownIns.map((link, index) => (
              <Neighbour key={link.url} link={link} box={picture.ins[index]} isIn domain={links.domain} />
            ))}
            <g>
              <rect {...middle} rx="8" className="fill-brand" />
              <text
                x={middle.x + middle.width / 2}
                y={middle.y + middle.height / 2 + 4}
                textAnchor="middle"
                className="fill-brand-ink text-xs font-medium"
              >
                {fit(links.title || pathOf(links.url), middle.width)}
              </text>
              <title>{links.url}</title>
            </g>
            {shownOuts.map((link, index) => (
              <Neighbour key={link.url} link={link} box={picture.outs[index]} domain={links.domain} />
            ))}
          </svg>
        )}
      </div>
    </div>
  );
}

function Neighbour({
  link,
  box,
  isIn = false,
  domain,
}: {
  link: LinkRow;
  box: Box | undefined;
  isIn?: boolean;
  domain: string;
}) {
  const navigate = useNavigate();
  if (!box) return null;
  const isNear = link.domain === domain;
  const name = link.title || link.anchor || (isNear ? pathOf(link.url) : link.url);
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    void navigate({ to: "/pages/$page", params: { page: "find" }, search: { url: link.url } } as never);
  };
  const shown = fit(name, box.width);
  const said = `${isIn ? "Links here" : "Linked"}: ${name}, ${words(link.status)}${link.anchor ? `, as “${link.anchor}”` : ""}`;
  return (
    <a href={addressOf(link.url)} onClick={open} aria-label={`${shown}. ${said}`} className="group">
      <title>{`${link.url}\n${said}`}</title>
      <rect
        {...box}
        rx="6"
        className={`fill-surface group-hover:fill-raised ${TONES[link.status]}`}
        strokeWidth="1.2"
        strokeDasharray={isNear ? undefined : "4 3"}
      />
      <text x={box.x + 8} y={box.y + box.height / 2 + 4} className="fill-ink text-xs">
        {shown}
      </text>
    </a>
  );
}
