/** Crawl settings in a form: how each value is shown and edited, and what of the edits is sent. Pure. */
import { ApiError, type Schemas } from "../../api/client";

export type SettingField = Schemas["CrawlSettingField"];
/** A setting with the value in force and the layer it comes from: `default`, `profile NAME` or `domain`. */
export interface Setting {
  field: SettingField;
  value: unknown;
  origin: string;
}
/** Name → the edited text; null: the value is taken back. */
export type Edits = Record<string, string | null>;
export type FieldErrors = Record<string, string>;
type Values = Record<string, unknown>;

/** What the API shows instead of a secret; sent back, it keeps the stored one. */
export const HIDDEN = "•••";
const NONE = "none";
const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of a value in its control. A secret of one value is never shown: its control starts empty. */
export function textOf(field: SettingField, value: unknown): string {
  if (value === null || value === undefined || (field.is_secret && !isMapping(value))) return "";
  if (Array.isArray(value)) return value.join("\n");
  if (isMapping(value))
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${text}`)
      .join("\n");
  return String(value);
}

/** A value in one line, as lists and differences show it. */
export function shortOf(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number") return value.toLocaleString("en", { maximumFractionDigits: 6 });
  if (Array.isArray(value)) return value.join(" ") || NONE;
  if (isMapping(value)) return Object.keys(value).join(", ") || NONE;
  return String(value) || NONE;
}

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Reads the text of a control as the API takes it; the API checks the value itself. */
export function readText(field: SettingField, text: string): { value?: unknown; error?: string } {
  const clean = text.trim();
  switch (field.kind) {
    case "flag":
      return { value: clean === "true" };
    case "list":
      return { value: linesOf(text) };
    case "mapping": {
      const pairs = linesOf(text).map((line) => /^([^:]+):(.*)$/.exec(line));
      if (pairs.some((pair) => !pair)) return { error: "Write `Name: value` on each line." };
      return { value: Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim() ?? "", pair?.[2]?.trim() ?? ""])) };
    }
    default:
      if (clean === "" && field.may_be_none) return { value: NONE };
      if (clean === "" && field.kind !== "text") return { error: "Give a value, or take it back." };
      return { value: field.kind === "number" && Number.isFinite(Number(clean)) ? Number(clean) : clean };
  }
}

/** What the edits change, and what is wrong with them. Null takes a value back. */
export function changesOf(settings: readonly Setting[], edits: Edits): { changes: Values; errors: FieldErrors } {
  const changes: Values = {};
  const errors: FieldErrors = {};
  for (const { field, value } of settings) {
    const edit = edits[field.name];
    if (edit === undefined || (edit !== null && edit.trim() === textOf(field, value).trim())) continue;
    const read = edit === null ? { value: null } : readText(field, edit);
    if (read.error) errors[field.name] = read.error;
    else changes[field.name] = read.value;
  }
  return { changes, errors };
}

/** The settings of a profile after changes, as the API takes them: there null would take a value out. */
export function mergeSettings(chosen: Values, changes: Values): Values {
  const merged = Object.entries({ ...chosen, ...changes }).filter(([name]) => changes[name] !== null);
  return Object.fromEntries(merged.map(([name, value]) => [name, value === null ? NONE : value]));
}

/** The settings of a profile, those that it does not choose with their default. */
export const settingsOfProfile = (fields: readonly SettingField[], chosen: Values): Setting[] =>
  fields.map((field) =>
    field.name in chosen
      ? { field, value: chosen[field.name], origin: "profile" }
      : { field, value: field.default, origin: "default" },
  );

/** The settings of a domain: the API's values beside what it says about each setting. */
export function settingsOfDomain(
  fields: readonly SettingField[],
  effective: readonly Schemas["EffectiveSetting"][],
): Setting[] {
  const known = new Map(effective.map((each) => [each.name, each]));
  return fields.flatMap((field) => {
    const found = known.get(field.name);
    return found ? [{ field, value: found.value, origin: found.origin }] : [];
  });
}

/** Group → its settings, in the order of the API. */
export function groupsOf(settings: readonly Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings)
    groups.set(setting.field.group, [...(groups.get(setting.field.group) ?? []), setting]);
  return [...groups];
}

/** Whether a setting has all the words that a person looks for. */
export function isFound(field: SettingField, search: string): boolean {
  const text = `${field.name} ${field.name.replaceAll("_", " ")} ${field.group} ${field.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Setting, `domains` or `reason` → what the API says is wrong with it. */
export function errorsOf(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return {};
  const found = (error.problem.errors ?? []).flatMap(({ where, what }) => {
    const name = where.split(".").find((part) => !["body", "path", "settings"].includes(part));
    if (!name) return [];
    const text = what.startsWith(`${name}: `) ? what.slice(name.length + 2) : what.replace(/^Value error, /, "");
    return [[name, text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".")]];
  });
  return Object.fromEntries(found);
}

/** Names and patterns of domains, as people separate them: lines, spaces or commas. */
export const readMembers = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];

/** The members after somebody edited a list that may have changed meanwhile. */
export function mergeMembers(shown: readonly string[], edited: readonly string[], stored: readonly string[]): string[] {
  const removed = new Set(shown.filter((member) => !edited.includes(member)));
  return [
    ...new Set([...stored.filter((member) => !removed.has(member)), ...edited.filter((m) => !shown.includes(m))]),
  ];
}
