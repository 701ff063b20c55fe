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

export function Chart({ at, lines, height = 180, format = String, label }: { at: number[]; lines: Line[]; height?: number; format?: (value: number) => string; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = `${lines.map((line) => line.name).join("|")}:${height}`;
  const latest = useRef({ at, lines });
  latest.current = { at, lines };

  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const [{ default: UPlot }] = await Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]);
      if (isGone || !place.current) return;
      plot.current?.destroy();
      const axis = { stroke: colourOf("--soft"), grid: { stroke: colourOf("--line"), width: 1 }, ticks: { stroke: colourOf("--line"), width: 1 } };
      plot.current = new UPlot(
        {
          width: place.current.clientWidth || 300,
          height,
          cursor: { points: { size: 6 } },
          legend: { show: lines.length > 1 },
          axes: [axis, { ...axis, size: 56, values: (_plot: uPlot, values: number[]) => values.map(format) }],
          scales: { y: { range: (_plot: uPlot, low: number, high: number): [number, number] => [Math.min(0, low ?? 0), high > 0 ? high * 1.1 : 1] } },
          series: [
            {},
            ...latest.current.lines.map((line, index) => ({
              label: line.name,
              stroke: colourOf(line.colour ?? COLOURS[index % COLOURS.length] ?? "--brand"),
              width: 1.8,
              points: { show: false },
              value: (_plot: uPlot, value: number | null) => (value == null ? "–" : format(value)),
            })),
          ],
        },
        [latest.current.at, ...latest.current.lines.map((line) => line.values)] as uPlot.AlignedData,
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
    plot.current?.setData([at, ...lines.map((line) => line.values)] as uPlot.AlignedData);
  }, [at, lines]);

  return <div ref={place} role="img" aria-label={label} style={{ minHeight: height }} className="w-full overflow-hidden" />;
}

/** A small line without axes. */
export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const known = values.map((value) => value ?? 0);
  const most = Math.max(...known, 1e-9);
  const points = known.map((value, index) => `${(index / Math.max(known.length - 1, 1)) * 100},${28 - (value / most) * 26}`).join(" ");
  return (
    <svg viewBox="0 0 100 30" preserveAspectRatio="none" className="h-8 w-full text-brand" role="img" aria-label={label}>
      {known.length > 1 && <polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}

/** Shares of a whole as a bar, with the numbers in words beside it. */
export function Shares({ of, tones, format = String }: { of: Record<string, number>; tones: (name: string) => string; format?: (value: number) => string }) {
  const entries = Object.entries(of).filter(([, value]) => value > 0).sort((one, other) => other[1] - one[1]);
  const total = entries.reduce((sum, [, value]) => sum + value, 0);
  if (!total) return <p className="text-soft">Nothing yet.</p>;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-3 overflow-hidden rounded-full bg-raised" aria-hidden="true">
        {entries.map(([name, value]) => <div key={name} className={tones(name)} style={{ width: `${(value / total) * 100}%` }} />)}
      </div>
      <ul className="grid gap-x-4 gap-y-1 sm:grid-cols-2">
        {entries.slice(0, 10).map(([name, value]) => (
          <li key={name} className="flex items-center gap-2">
            <span className={`size-2.5 shrink-0 rounded-sm ${tones(name)}`} aria-hidden="true" />
            <span className="min-w-0 truncate">{name.replaceAll("_", " ")}</span>
            <span className="ml-auto tabular-nums">{format(value)}</span>
            <span className="w-12 text-right text-xs text-soft tabular-nums">{((value / total) * 100).toFixed(value / total < 0.1 ? 1 : 0)} %</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
