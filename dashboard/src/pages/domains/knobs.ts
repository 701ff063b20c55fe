/** What an operator may set on a domain: how it is shown in a form, read back, and sent as the changes alone. Pure. */
import type { Schemas } from "../../api/client";

export type Changes = Schemas["DomainChanges"];
export type Form = Record<KnobName, string>;
type Kind = "number" | "whole" | "span" | "time" | "flag" | "choice";

interface Knob {
  name: KnobName;
  label: string;
  hint: string;
  kind: Kind;
  low?: number;
  high?: number;
  choices?: readonly [string, string][];
  /** What an empty field means, where it is not the setting. */
  empty?: string;
}
export type KnobName = Exclude<keyof Changes, "is_active">;

const TEN_YEARS = 315_360_000;
const FLAG = [
  ["true", "yes"],
  ["false", "no"],
] as const satisfies readonly [string, string][];

export const KNOBS: { title: string; knobs: Knob[] }[] = [
  {
    title: "Pace",
    knobs: [
      {
        name: "crawl_delay_s",
        label: "Seconds between requests",
        hint: "Empty: the setting delay_s. robots.txt may ask for more.",
        kind: "number",
        low: 0,
        high: 86_400,
      },
      {
        name: "max_concurrent_requests",
        label: "Requests at once",
        hint: "Empty: the setting.",
        kind: "whole",
        low: 1,
        high: 1000,
      },
      {
        name: "maintenance_start",
        label: "Closed from (UTC)",
        hint: "No visits in this window; both ends or none.",
        kind: "time",
      },
      { name: "maintenance_end", label: "Closed until (UTC)", hint: "May be on the next day.", kind: "time" },
      {
        name: "max_pages_per_run",
        label: "Pages per run",
        hint: "Then it waits for the next run.",
        kind: "whole",
        low: 1,
        high: 2_147_483_647,
        empty: "no limit",
      },
      {
        name: "max_pages_per_template",
        label: "Pages per template",
        hint: "Of one kind of address, such as /item/{n}.",
        kind: "whole",
        low: 1,
        high: 2_147_483_647,
        empty: "the setting",
      },
    ],
  },
  {
    title: "Coming back",
    knobs: [
      {
        name: "revisit_every_s",
        label: "Visit pages again every",
        hint: "Such as 6h, 2d, 90m.",
        empty: "never",
        kind: "span",
        low: 1,
        high: TEN_YEARS,
      },
      {
        name: "is_adaptive",
        label: "Learn how often pages change",
        hint: "Visits what changes more often, within the budget.",
        kind: "flag",
        choices: FLAG,
      },
      {
        name: "revisits_per_day",
        label: "Revisits a day at most",
        hint: "The budget of learning.",
        empty: "no limit",
        kind: "number",
        low: 0.001,
        high: 10_000_000,
      },
      {
        name: "refresh_every_s",
        label: "Rest when all is visited",
        hint: "Such as 14d. Empty: the setting.",
        kind: "span",
        low: 1,
        high: TEN_YEARS,
      },
    ],
  },
  {
    title: "What is kept",
    knobs: [
      {
        name: "content_policy",
        label: "Bodies",
        hint: "Signals only, the last body, or all of them.",
        kind: "choice",
        choices: [
          ["", "default"],
          ["signals", "signals"],
          ["snapshot", "snapshot"],
          ["archive", "archive"],
        ],
      },
      {
        name: "images_policy",
        label: "Images",
        hint: "None, where each is shown, or the files too.",
        kind: "choice",
        choices: [
          ["", "default"],
          ["none", "none"],
          ["found", "found"],
          ["download", "download"],
        ],
      },
      {
        name: "stores_links",
        label: "Keep who links to whom",
        hint: "Links are followed either way.",
        kind: "flag",
        choices: FLAG,
      },
      {
        name: "parser_name",
        label: "Product parser",
        hint: "How products are read.",
        kind: "choice",
        choices: [
          ["auto", "auto"],
          ["generic", "generic"],
          ["amazon", "amazon"],
        ],
      },
    ],
  },
  {
    title: "How it is asked",
    knobs: [
      {
        name: "rendering",
        label: "Run scripts in a browser",
        hint: "Auto: where the plain page is empty.",
        kind: "choice",
        choices: [
          ["", "default"],
          ["never", "never"],
          ["auto", "auto"],
          ["always", "always"],
        ],
      },
      {
        name: "verifies_tls",
        label: "Check certificates",
        hint: "No also accepts forged ones.",
        kind: "flag",
        choices: FLAG,
      },
      {
        name: "proxy_country",
        label: "Proxies in",
        hint: "Only those of its pool in this country.",
        kind: "choice",
        choices: [["", "any country"]],
      },
      {
        name: "paces_per_proxy",
        label: "Pace counts for each proxy",
        hint: "Yes: each proxy waits by itself, so the domain is asked more often.",
        kind: "flag",
        choices: FLAG,
      },
    ],
  },
];
const ALL = KNOBS.flatMap((group) => group.knobs);

const SPANS: [string, number][] = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
];

/** `6h`, `90m`: as a person would type it. */
export function spanText(seconds: number): string {
  const [unit, length] = SPANS.find(([, size]) => seconds >= size && seconds % size === 0) ?? ["s", 1];
  return `${seconds / length}${unit}`;
}

export function readSpan(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)?$/i.exec(text.trim());
  if (!found) return undefined;
  const unit = (found[2] ?? "s").toLowerCase();
  const size = unit === "w" ? 604_800 : SPANS.find(([name]) => name === unit[0])?.[1];
  return size === undefined ? undefined : Number(found[1]) * size;
}

/** What the form shows at first. */
export function formOf(domain: Schemas["Domain"]): Form {
  const known: Partial<Record<KnobName, unknown>> = domain;
  const shown = (knob: Knob): string => {
    const value = known[knob.name];
    if (value === null || value === undefined) return "";
    if (knob.kind === "span") return spanText(Number(value));
    return knob.kind === "time" ? String(value).slice(0, 5) : String(value);
  };
  return Object.fromEntries(ALL.map((knob) => [knob.name, shown(knob)])) as Form;
}

/** What differs, ready to be sent, and what is wrong with it. An empty field takes the default. */
export function changesOf(before: Form, now: Form): { changes: Changes; errors: Partial<Record<KnobName, string>> } {
  const changes: Record<string, unknown> = {};
  const errors: Partial<Record<KnobName, string>> = {};
  for (const knob of ALL) {
    const text = now[knob.name].trim();
    if (text === before[knob.name]) continue;
    const [value, error] = read(knob, text);
    if (error) errors[knob.name] = error;
    else changes[knob.name] = value;
  }
  if ("maintenance_start" in changes || "maintenance_end" in changes) {
    // The window travels whole: the server refuses half of one.
    const [start, end] = [now.maintenance_start, now.maintenance_end];
    if (!start !== !end) errors[start ? "maintenance_end" : "maintenance_start"] = "A window needs both ends.";
    else if (start && start === end) errors.maintenance_end = "It would end when it begins.";
    changes.maintenance_start = start || null;
    changes.maintenance_end = end || null;
  }
  return { changes: changes as Changes, errors };
}

function read(knob: Knob, text: string): [unknown, string?] {
  if (knob.kind === "flag") return [text === "true"];
  if (text === "") return [null];
  if (knob.kind === "choice" || knob.kind === "time") return [text];
  const value = knob.kind === "span" ? readSpan(text) : Number(text);
  if (value === undefined) return [null, "A number with s, m, h or d, such as 6h."];
  if (!Number.isFinite(value)) return [null, "This is not a number."];
  if (knob.kind === "whole" && !Number.isInteger(value)) return [null, "A whole number, please."];
  if (value < (knob.low ?? -Infinity) || value > (knob.high ?? Infinity)) {
    const show = (bound: number) => (knob.kind === "span" ? spanText(bound) : bound.toLocaleString("en"));
    return [null, `Between ${show(knob.low ?? 0)} and ${show(knob.high ?? 0)}.`];
  }
  return [value];
}
