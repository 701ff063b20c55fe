import { expect, it } from "vitest";
import { courseOf } from "./course";

const visit = (at: string, outcome: "success" | "timeout", response_time_ms: number | null) => ({
  requested_at: at,
  completed_at: at,
  outcome,
  response_time_ms,
});

it("lines go forward in time, count each minute, and leave out what was not measured", () => {
  const { speed, visits } = courseOf([
    visit("2026-01-01T00:02:10Z", "success", 250),
    visit("2026-01-01T00:00:20Z", "timeout", null),
    visit("2026-01-01T00:00:10Z", "success", 50),
  ]);
  expect(speed.lines[0]?.values).toEqual([0.05, 0.25]);
  expect(visits.at).toHaveLength(3);
  expect(visits.lines.map((line) => [line.name, line.values])).toEqual([
    ["success", [1, 0, 1]],
    ["timeout", [1, 0, 0]],
  ]);
  expect(courseOf([]).visits.at).toEqual([]);
});
