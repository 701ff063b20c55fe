/** Numbers, sizes and times as people read them. Pure. */

const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = (value: number | null | undefined) => (value == null ? "–" : whole.format(Math.round(value)));

/** `1,204`, `1.2M`: exact while it is short. */
export const short = (value: number | null | undefined) =>
  value == null ? "–" : Math.abs(value) < 100_000 ? whole.format(Math.round(value)) : compact.format(value);

export const rate = (value: number | null | undefined) =>
  value == null ? "–" : value >= 100 ? whole.format(Math.round(value)) : value.toFixed(1);

export const percent = (share: number | null | undefined) =>
  share == null ? "–" : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

export function bytes(value: number | null | undefined): string {
  if (value == null) return "–";
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

const SPANS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** `3 d 4 h`, `12 min`, `0.4 s`: two units at most. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return "–";
  if (seconds < 0.001) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [size, name] of SPANS) {
    const count = Math.floor(rest / size);
    if (count && parts.length < 2) parts.push(`${count} ${name}`);
    else if (parts.length) break;
    rest -= count * size;
  }
  return parts.join(" ");
}

/** `3 min ago`, `in 2 h`. */
export function age(moment: string | Date | null | undefined, now = Date.now()): string {
  if (!moment) return "never";
  const seconds = (now - new Date(moment).getTime()) / 1000;
  if (Math.abs(seconds) < 2) return "now";
  const words = duration(Math.abs(seconds) < 10 ? Math.round(Math.abs(seconds)) : Math.abs(seconds))
    .split(" ")
    .slice(0, 2)
    .join(" ");
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const moment = (value: string | Date) => local.format(new Date(value));
export const utc = (value: string | Date) =>
  new Date(value)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");

export function money(price: number | string | null | undefined, currency: string | null | undefined): string {
  if (price == null) return "–";
  const amount = Number(price);
  if (!currency) return amount.toFixed(2);
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(amount);
  } catch {
    return `${amount.toFixed(2)} ${currency}`;
  }
}

/** `blocked_robots` → `blocked robots`. */
export const words = (name: string | null | undefined) => (name ?? "–").replaceAll("_", " ");

/** The part of a URL that tells it from others of its domain. */
export function pathOf(url: string): string {
  try {
    const parsed = new URL(url);
    return parsed.pathname + parsed.search;
  } catch {
    return url;
  }
}

/** Only what a browser may follow: a crawled URL can be anything. */
export const safeHref = (url: string | null | undefined) => (url && /^https?:\/\//i.test(url) ? url : undefined);
