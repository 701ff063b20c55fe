/** Lines over time from a domain's last visits. Pure. */
import type { Schemas } from "../../api/client";
import type { Line } from "../../ui/chart";

type Visit = Pick<Schemas["TaskRow"], "completed_at" | "requested_at" | "response_time_ms" | "outcome">;
interface Course {
  at: number[];
  lines: Line[];
}
const MINUTE_S = 60;
const DAY_S = 86_400;
const MOST_MINUTES = 1440;
const COLOURS: Record<string, string> = {
  success: "--good",
  blocked_robots: "--soft",
  cancelled: "--soft",
  timeout: "--info",
  blocked_4xx: "--warn",
};

export function courseOf(visits: Visit[]): { speed: Course; visits: Course } {
  return { speed: speedOf(visits), visits: perMinute(visits) };
}

type Day = Pick<Schemas["DomainDay"], "day" | "visits" | "ok" | "bytes">;

/** Days without a visit are zero. They are UTC days, and stand at their own midnight here, so that none is told as another. */
export function daysOf(days: readonly Day[]): { visits: Course; bytes: Course } {
  const known = new Map(days.map((day) => [Date.parse(day.day) / 1000 / DAY_S, day]));
  if (!known.size) return { visits: { at: [], lines: [] }, bytes: { at: [], lines: [] } };
  const first = Math.min(...known.keys());
  const span = Array.from({ length: Math.max(...known.keys()) - first + 1 }, (_, index) => known.get(first + index));
  const at = span.map(
    (_, index) => (first + index) * DAY_S + new Date((first + index) * DAY_S * 1000).getTimezoneOffset() * MINUTE_S,
  );
  return {
    visits: {
      at,
      lines: [
        { name: "success", colour: "--good", values: span.map((day) => day?.ok ?? 0) },
        { name: "everything else", colour: "--bad", values: span.map((day) => (day ? day.visits - day.ok : 0)) },
      ],
    },
    bytes: { at, lines: [{ name: "received", colour: "--info", values: span.map((day) => day?.bytes ?? 0) }] },
  };
}

function speedOf(visits: Visit[]): Course {
  const found = new Map<number, number>();
  for (const { requested_at, response_time_ms } of visits) {
    if (requested_at && response_time_ms != null) found.set(Date.parse(requested_at) / 1000, response_time_ms / 1000);
  }
  const points = [...found].sort((one, other) => one[0] - other[0]);
  return { at: points.map(([at]) => at), lines: [{ name: "response", values: points.map(([, value]) => value) }] };
}

/** Minutes without a visit are zero; of a long time only the last day is shown. */
function perMinute(visits: Visit[]): Course {
  const counts = new Map<string, Map<number, number>>();
  const minutes = visits.flatMap((visit) =>
    visit.completed_at && visit.outcome ? [Math.floor(Date.parse(visit.completed_at) / 1000 / MINUTE_S)] : [],
  );
  if (!minutes.length) return { at: [], lines: [] };
  const last = Math.max(...minutes);
  const first = Math.max(Math.min(...minutes), last - MOST_MINUTES);
  for (const { completed_at, outcome } of visits) {
    if (!completed_at || !outcome) continue;
    const minute = Math.floor(Date.parse(completed_at) / 1000 / MINUTE_S);
    const line = counts.get(outcome) ?? new Map<number, number>();
    counts.set(outcome, line.set(minute, (line.get(minute) ?? 0) + 1));
  }
  const span = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const lines = [...counts].sort(([one], [other]) => one.localeCompare(other));
  return {
    at: span.map((minute) => minute * MINUTE_S),
    lines: lines.map(([name, line]) => ({
      name: name.replaceAll("_", " "),
      colour: COLOURS[name] ?? "--bad",
      values: span.map((minute) => line.get(minute) ?? 0),
    })),
  };
}
