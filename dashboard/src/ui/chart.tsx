/** Lines over time (uPlot, loaded when the first chart is shown), and sparks that need no library. */
import { useEffect, useRef } from "react";
import type uPlot from "uplot";

export interface Line {
  name: string;
  /** One value for each moment; null is a gap. */
  values: (number | null)[];
  colour?: string;
}

const COLOURS = ["--brand", "--info", "--warn", "--bad", "--good", "--soft"];
const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

interface ChartProps {
  at: number[];
  lines: Line[];
  height?: number;
  format?: (value: number) => string;
  label: string;
  /** Heaps that stand on each other, for what is counted; by default a line, for what is measured. */
  kind?: "lines" | "heaps";
}

/** Each heap stands on those before it; drawn from the highest down, so that all are seen. */
export function pile(lines: readonly Line[]): (number | null)[][] {
  const sums: (number | null)[][] = [];
  let below: (number | null)[] = [];
  for (const line of lines) {
    below = line.values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    sums.unshift(below);
  }
  return sums;
}

export function Chart({ at, lines, height = 180, format = String, label, kind = "lines" }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = `${lines.map((line) => line.name).join("|")}:${height}:${kind}`;
  const latest = useRef({ at, lines });
  latest.current = { at, lines };
  const isPiled = kind === "heaps";

  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const [{ default: UPlot }] = await Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]);
      if (isGone || !place.current) return;
      plot.current?.destroy();
      const axis = {
        stroke: colourOf("--soft"),
        grid: { stroke: colourOf("--line"), width: 1 },
        ticks: { stroke: colourOf("--line"), width: 1 },
      };
      plot.current = new UPlot(
        {
          width: place.current.clientWidth || 300,
          height,
          cursor: { points: { size: 6 } },
          padding: [8, 32, 0, 0],
          legend: { show: lines.length > 1 },
          axes: [
            {
              ...axis,
              size: 34,
              values: (_plot: uPlot, moments: number[], _axis: number, _space: number, step: number) =>
                moments.map((moment) => clockText(moment, step)),
            },
            { ...axis, size: 64, values: (_plot: uPlot, values: number[]) => values.map(format) },
          ],
          scales: {
            x: {
              range: (_plot: uPlot, first: number, last: number): [number, number] =>
                isPiled && first != null
                  ? [first - stepOf(latest.current.at) / 2, last + stepOf(latest.current.at) / 2]
                  : [first ?? 0, last ?? 1],
            },
            y: {
              range: (_plot: uPlot, low: number, high: number): [number, number] => [
                Math.min(0, low ?? 0),
                high > 0 ? high * 1.1 : 1,
              ],
            },
          },
          series: [
            {
              value: (_plot: uPlot, moment: number | null) =>
                moment == null ? "–" : clockText(moment, stepOf(latest.current.at), true),
            },
            ...seriesOf(UPlot, latest.current.lines, isPiled, format, () => latest.current.lines),
          ],
        },
        dataOf(latest.current.at, latest.current.lines, isPiled),
        place.current,
      );
    };
    void draw();
    const resize = new ResizeObserver(() => {
      if (plot.current && place.current) plot.current.setSize({ width: place.current.clientWidth, height });
    });
    if (place.current) resize.observe(place.current);
    const theme = new MutationObserver(() => void draw());
    theme.observe(document.documentElement, { attributeFilter: ["class"] });
    return () => {
      isGone = true;
      resize.disconnect();
      theme.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData(dataOf(at, lines, isPiled));
  }, [at, lines, isPiled]);

  return (
    <div ref={place} role="img" aria-label={label} style={{ minHeight: height }} className="w-full overflow-hidden" />
  );
}

const MINUTE_S = 60;
const DAY_S = 86_400;
const seconds = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** As exact as the steps are; `isWhole`: with its day. */
function clockText(moment: number, step: number, isWhole = false): string {
  const at = new Date(moment * 1000);
  if (step >= DAY_S) return days.format(at);
  const time = (step < MINUTE_S ? seconds : minutes).format(at);
  return isWhole || time === "00:00" ? `${days.format(at)}${isWhole ? `, ${time}` : ""}` : time;
}

const stepOf = (at: readonly number[]) =>
  Math.max(Math.min(...at.slice(1).map((moment, index) => moment - (at[index] ?? 0))), 1) || MINUTE_S;
const dataOf = (at: number[], lines: Line[], isPiled: boolean) =>
  [at, ...(isPiled ? pile(lines) : lines.map((line) => line.values))] as uPlot.AlignedData;

function seriesOf(
  UPlot: typeof uPlot,
  lines: Line[],
  isPiled: boolean,
  format: (value: number) => string,
  now: () => Line[],
): uPlot.Series[] {
  const series = lines.map((line, index): uPlot.Series => {
    const colour = colourOf(line.colour ?? COLOURS[index % COLOURS.length] ?? "--brand");
    // A pile is drawn from its sums; what is told is the line's own number.
    const value = (_plot: uPlot, drawn: number | null, _series: number, place: number | null) => {
      const own = isPiled ? (place == null ? null : now()[index]?.values[place]) : drawn;
      return own == null ? "–" : format(own);
    };
    if (isPiled)
      return {
        label: line.name,
        stroke: colour,
        fill: colour,
        width: 0,
        points: { show: false },
        paths: UPlot.paths.bars?.({ size: [0.8, 32], align: 0 }),
        value,
      };
    return {
      label: line.name,
      stroke: colour,
      fill: lines.length === 1 ? `${colour}1f` : undefined,
      width: 1.8,
      points: { show: line.values.filter((each) => each !== null).length < 3 },
      value,
    };
  });
  return isPiled ? series.reverse() : series;
}

/** A small line without axes. */
export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const drawn = values.length === 1 ? [...values, ...values] : values; // one moment is a level line
  const known = drawn.map((value) => value ?? 0);
  const most = Math.max(...known, 1e-9);
  const points = known
    .map((value, index) => `${(index / Math.max(known.length - 1, 1)) * 100},${28 - (value / most) * 26}`)
    .join(" ");
  return (
    <svg
      viewBox="0 0 100 30"
      preserveAspectRatio="none"
      className="h-8 w-full text-brand"
      role="img"
      aria-label={label}
    >
      {known.length > 1 && (
        <>
          <polygon points={`0,30 ${points} 100,30`} fill="currentColor" opacity="0.1" />
          <polyline
            points={points}
            fill="none"
            stroke="currentColor"
            strokeWidth="1.5"
            vectorEffect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}

const SHORT_NAME = 9;

/** Shares of a whole as a bar, with the numbers in words beside it. */
export function Shares({
  of,
  tones,
  format = String,
}: {
  of: Record<string, number>;
  tones: (name: string) => string;
  format?: (value: number) => string;
}) {
  const entries = Object.entries(of)
    .filter(([, value]) => value > 0)
    .sort((one, other) => other[1] - one[1]);
  const total = entries.reduce((sum, [, value]) => sum + value, 0);
  if (!total) return <p className="text-soft">Nothing yet.</p>;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-3 overflow-hidden rounded-full bg-raised" aria-hidden="true">
        {entries.map(([name, value]) => (
          <div key={name} className={tones(name)} style={{ width: `${(value / total) * 100}%` }} />
        ))}
      </div>
      <ul
        className={`grid gap-x-4 gap-y-1 ${entries.some(([name]) => name.length > SHORT_NAME) ? "" : "sm:grid-cols-2"}`}
      >
        {entries.slice(0, 10).map(([name, value]) => (
          <li key={name} className="flex items-center gap-2">
            <span className={`size-2.5 shrink-0 rounded-sm ${tones(name)}`} aria-hidden="true" />
            <span className="min-w-0 truncate">{name.replaceAll("_", " ")}</span>
            <span className="ml-auto tabular-nums">{format(value)}</span>
            <span className="w-12 text-right text-xs text-soft tabular-nums">
              {((value / total) * 100).toFixed(value / total < 0.1 ? 1 : 0)} %
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
