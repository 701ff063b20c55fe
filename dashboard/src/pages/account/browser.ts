/** Which browser somebody uses, as they would say it. Pure. */

const BROWSERS: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\/|Chromium\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux|X11/, "Linux"],
];
const nameIn = (names: [RegExp, string][], text: string) => names.find(([pattern]) => pattern.test(text))?.[1];

/** `Firefox on Linux`; a program is told by its own name. */
export function browserOf(agent: string | null | undefined): string {
  if (!agent) return "unknown browser";
  const browser = nameIn(BROWSERS, agent);
  const system = nameIn(SYSTEMS, agent);
  return browser ? [browser, system].filter(Boolean).join(" on ") : agent;
}
