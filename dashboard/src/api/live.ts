/** Live numbers: one stream for the whole page, shared by whoever shows them; polling where streams are cut. */
import { useSyncExternalStore } from "react";
import { api, ask, type Schemas } from "./client";

export type Stats = Schemas["Stats"];
export type Link = "connecting" | "live" | "polling" | "away";
export interface Live {
  stats: Stats | null;
  link: Link;
  /** The last two minutes of it, for small charts. */
  past: { at: number; stats: Stats }[];
}

const KEPT_MS = 120_000;
const POLL_MS = 5_000;
const PATIENCE_MS = 20_000;

let live: Live = { stats: null, link: "connecting", past: [] };
const listeners = new Set<() => void>();
let source: EventSource | null = null;
let poll: number | undefined;
let silence: number | undefined;

function tell(change: Partial<Live>) {
  live = { ...live, ...change };
  for (const listener of listeners) listener();
}

export function hear(stats: Stats, link: Link, now = Date.now()) {
  const past = [...live.past.filter((point) => now - point.at < KEPT_MS), { at: now, stats }];
  tell({ stats, link, past });
}

async function pollOnce() {
  try {
    hear((await ask(api.GET("/api/stats"))) as Stats, "polling");
  } catch {
    tell({ link: "away" });
  }
}

function open() {
  source = new EventSource("/api/live");
  const expect = () => {
    clearTimeout(silence);
    silence = window.setTimeout(() => tell({ link: "away" }), PATIENCE_MS);
  };
  expect();
  source.addEventListener("numbers", (event) => {
    expect();
    stopPolling();
    hear(JSON.parse((event as MessageEvent<string>).data) as Stats, "live");
  });
  source.addEventListener("away", () => {
    expect();
    tell({ link: "away" });
  });
  source.addEventListener("end", close);
  source.onerror = () => {
    if (poll === undefined) poll = window.setInterval(() => void pollOnce(), POLL_MS);
    if (source?.readyState === EventSource.CLOSED) window.setTimeout(reopen, POLL_MS);
  };
}

function stopPolling() {
  clearInterval(poll);
  poll = undefined;
}

function close() {
  source?.close();
  source = null;
  stopPolling();
  clearTimeout(silence);
}

function reopen() {
  if (listeners.size) {
    close();
    open();
  }
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (!source) open();
  return () => {
    listeners.delete(listener);
    if (!listeners.size) close();
  };
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);
