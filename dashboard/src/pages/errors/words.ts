/** Categories and periods of errors, as people read them. */
import type { Schemas } from "../../api/client";

export type Category = keyof Schemas["Categories"];

export const CATEGORIES: readonly [Category, string, string][] = [
  ["network", "Network", "Nobody usable answered."],
  ["site", "Site", "Somebody answered, and it was no page for us."],
  ["robots", "Robots", "A robots.txt forbids these visits. That is no failure, and not counted among all."],
  ["parse", "Reading", "The answer could not be read."],
  ["validation", "Rules", "It was read, or asked for, and broke a rule."],
  ["us", "Ours", "A fault of ours: these are worth a look first."],
];
export const isCategory = (text: string | undefined): text is Category => CATEGORIES.some(([key]) => key === text);

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
export const ALL_S = 3_650 * DAY_S;
export const PERIODS: readonly [string, string, number][] = [
  ["hour", "last hour", HOUR_S],
  ["day", "last day", DAY_S],
  ["week", "last week", 7 * DAY_S],
  ["month", "last 30 days", 30 * DAY_S],
  ["ever", "ever", ALL_S],
];
export const sinceOf = (period: string | undefined) => PERIODS.find(([key]) => key === period)?.[2] ?? DAY_S;
