/** Entries of the audit log as people read them. Pure. */
import { words } from "../../ui/format";

const WAYS: Record<string, string> = { api: "", cli: "command line" };

/** `api:alice` is alice, as most are; another way is told. */
export function whoOf(signature: string): { name: string; way: string } {
  const [way = "", ...rest] = signature.split(":");
  return rest.length ? { name: rest.join(":"), way: WAYS[way] ?? way } : { name: signature, way: "" };
}

/** `seeds 3 · first http://a.example/ and 2 more`; what says nothing is left out. */
export function detailsOf(details: unknown): string {
  if (!details || typeof details !== "object") return "";
  return Object.entries(details)
    .flatMap(([name, value]) => {
      const text = textOf(value);
      return text === "" ? [] : [`${words(name)} ${text}`];
    })
    .join(" · ");
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (value === true || value === false) return value ? "yes" : "no";
  if (typeof value === "number") return value.toLocaleString("en");
  if (Array.isArray(value)) {
    const [first, ...rest] = value.map(textOf);
    return first === undefined ? "none" : rest.length ? `${first} and ${rest.length.toLocaleString("en")} more` : first;
  }
  return typeof value === "object"
    ? Object.entries(value)
        .map(([name, each]) => `${words(name)} ${textOf(each) || "default"}`)
        .join(", ")
    : String(value);
}
