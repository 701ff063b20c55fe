/** The counters of an extractor's fields, over all domains: one line for each field, and sums. */
import type { Schemas } from "../../api/client";
import type { Line } from "../../ui/chart";

type Row = Schemas["FieldCoverage"];

export interface FieldSum {
  name: string;
  found: number;
  valid: number;
  missing: number;
  rate: number | null;
}

const rateOf = (valid: number, tried: number) => (tried ? valid / tried : null);

export function coverageLines(rows: readonly Row[]): { at: number[]; lines: Line[]; fields: FieldSum[] } {
  const days = [...new Set(rows.map((row) => row.day))].sort();
  const names = [...new Set(rows.map((row) => row.field))].sort();
  const fields = names.map((name) => sum(name, rows));
  const lines = names.map((name) => ({
    name: name || "whole records",
    values: days.map(
      (day) =>
        sum(
          name,
          rows.filter((row) => row.day === day),
        ).rate,
    ),
  }));
  return { at: days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000), lines, fields };
}

function sum(name: string, rows: readonly Row[]): FieldSum {
  const total = { name, found: 0, valid: 0, missing: 0 };
  for (const row of rows.filter((each) => each.field === name)) {
    total.found += row.found;
    total.valid += row.valid;
    total.missing += row.missing;
  }
  return { ...total, rate: rateOf(total.valid, total.found + total.missing) };
}
