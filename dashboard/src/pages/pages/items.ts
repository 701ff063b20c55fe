/** Structured data of a page, in the shape it is shown in. Pure. */
import type { Schemas } from "../../api/client";

type Item = Schemas["StructuredItem"];

export interface Group {
  /** `Recipe`, or `Product, Car` of an item that is both. */
  type: string;
  items: Item[];
}

/** Items by type, in the order the page has them. */
export function groupItems(items: readonly Item[]): Group[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const type = item.types.join(", ") || "without a type";
    groups.set(type, [...(groups.get(type) ?? []), item]);
  }
  return [...groups].map(([type, found]) => ({ type, items: found }));
}

const NAMES = ["name", "headline", "title", "og:title", "legalName", "url", "@id"];

/** What tells an item from others of its type: its name, or else its address. */
export function nameOf(item: Item): string {
  for (const name of NAMES) {
    const value = item.properties[name];
    const text: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof text === "string" && text.trim()) return text.trim();
  }
  return "";
}

/** The parts of a value that has some; null of a plain one. */
export function partsOf(value: unknown): [string, unknown][] | null {
  if (Array.isArray(value)) return value.map((part: unknown, index) => [String(index + 1), part]);
  if (typeof value === "object" && value !== null) return Object.entries(value);
  return null;
}

/** A list of one thing says no more than the thing. */
export const unwrap = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 ? unwrap(value[0]) : value;

/** What a closed branch says of itself: `Offer`, `12 values`. */
export function hintOf(value: unknown): string {
  const parts = partsOf(value) ?? [];
  if (!Array.isArray(value)) {
    const type = (value as Record<string, unknown>)["@type"] ?? (value as Record<string, unknown>).types;
    const named = Array.isArray(type) ? type.join(", ") : type;
    if (typeof named === "string" && named) return named;
  }
  return `${parts.length} ${parts.length === 1 ? "value" : "values"}`;
}
