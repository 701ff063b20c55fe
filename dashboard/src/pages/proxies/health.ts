/** How a proxy does, in one word, and how it is called. Pure. */
import type { Schemas } from "../../api/client";

type Proxy = Pick<Schemas["ProxyRow"], "is_active" | "probe_at" | "consecutive_failures" | "successes" | "failures">;
export type Health = "working" | "failing" | "failed" | "off" | "unused";

/** So many failures in a row, and a proxy is put aside until a probe succeeds. */
export const FAILING = 5;

/** `failed` was put aside by itself and is probed again; `off` waits for a person. */
export function healthOf(proxy: Proxy): Health {
  if (!proxy.is_active) return proxy.probe_at ? "failed" : "off";
  if (!proxy.successes && !proxy.failures) return "unused";
  return proxy.consecutive_failures > 0 ? "failing" : "working";
}

export const TONES = {
  working: "good",
  failing: "warn",
  failed: "bad",
  off: "plain",
  unused: "info",
} as const satisfies Record<Health, string>;

/** Its address without a secret. */
export function addressOf(proxy: Pick<Schemas["ProxyRow"], "protocol" | "host" | "port" | "username">): string {
  const host = proxy.host.includes(":") ? `[${proxy.host}]` : proxy.host;
  return `${proxy.protocol}://${proxy.username ? `${proxy.username}@` : ""}${host}:${proxy.port}`;
}

export interface FactsForm {
  country: string;
  city: string;
  provider: string;
  monthly_cost: string;
  max_requests_per_hour: string;
  is_forwarding: boolean;
}
export type FactErrors = Partial<Record<keyof FactsForm, string>>;

/** What is wrong with what was typed. */
export function wrongFacts(form: FactsForm): FactErrors {
  const errors: FactErrors = {};
  const cost = Number(form.monthly_cost);
  const perHour = Number(form.max_requests_per_hour);
  if (form.country && !/^[A-Za-z]{2}$/.test(form.country.trim())) errors.country = "Two letters, such as DE.";
  if (form.monthly_cost && !(cost >= 0 && cost <= 99_999_999)) errors.monthly_cost = "A number from 0 on.";
  if (form.max_requests_per_hour && !(Number.isInteger(perHour) && perHour >= 1 && perHour <= 2_147_483_647))
    errors.max_requests_per_hour = "A whole number from 1 on.";
  return errors;
}

/** What is sent: only what somebody filled in. */
export function factsOf(form: FactsForm) {
  const text = (value: string) => value.trim() || undefined;
  const amount = (value: string) => (value.trim() ? Number(value) : undefined);
  return {
    country: text(form.country)?.toUpperCase(),
    city: text(form.city),
    provider: text(form.provider),
    monthly_cost: amount(form.monthly_cost),
    max_requests_per_hour: amount(form.max_requests_per_hour),
    is_forwarding: form.is_forwarding,
  };
}

/** Addresses one per line, or parted by commas or blanks; each once. */
export const addressesIn = (text: string) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];
