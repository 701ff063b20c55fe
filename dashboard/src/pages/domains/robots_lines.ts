/** Which lines of a robots.txt speak to us, for people who read it. The verdict itself is the server's. Pure. */

export interface RobotsLine {
  number: number;
  text: string;
  /** Whether it stands in a group whose rules we follow. */
  isOurs: boolean;
}

const KEYS: [RegExp, "agent" | "rule" | "delay"][] = [
  [/^(user-?agent|user agent)$/, "agent"],
  [/^(allow|disallow|dissallow|dissalow|disalow|diasllow|disallaw)$/, "rule"],
  [/^crawl[- ]?delay$/, "delay"],
];

/** Lines in their order, ours marked: those of groups that name us, or, where none does, those for everybody. */
export function linesOf(text: string, agent: string): RobotsLine[] {
  const name = agent.toLowerCase();
  const texts = text
    .replace(/^\uFEFF/, "")
    .replace(/(\r\n|\r|\n)$/, "")
    .split(/\r\n|\r|\n/);
  const groups: { agents: Set<string>; lines: number[] }[] = [];
  let mayAddAgent = false;
  texts.forEach((line, index) => {
    const [key, value] = split(line);
    if (!key) return;
    if (key === "agent") {
      if (!mayAddAgent) groups.push({ agents: new Set(), lines: [] });
      groups.at(-1)?.agents.add(tokenOf(value));
    }
    mayAddAgent = key === "agent";
    groups.at(-1)?.lines.push(index);
  });
  const naming = groups.filter((group) => group.agents.has(name));
  const ours = new Set(
    (naming.length ? naming : groups.filter((group) => group.agents.has("*"))).flatMap((group) => group.lines),
  );
  return texts.map((line, index) => ({ number: index + 1, text: line, isOurs: ours.has(index) }));
}

function split(line: string): ["agent" | "rule" | "delay" | null, string] {
  const bare = line.replace(/#.*/, "");
  const colon = bare.indexOf(":");
  if (colon < 0) return [null, ""];
  const key = bare.slice(0, colon).trim().toLowerCase();
  return [KEYS.find(([shape]) => shape.test(key))?.[1] ?? null, bare.slice(colon + 1).trim()];
}

const tokenOf = (value: string) => (value.startsWith("*") ? "*" : (/^[^\s/]*/.exec(value)?.[0] ?? "").toLowerCase());

/** The line a verdict names: `robots.txt line 11 says …` → 11. */
export function lineNamed(sentence: string | undefined): number | undefined {
  const found = /robots\.txt line (\d+)/.exec(sentence ?? "");
  return found ? Number(found[1]) : undefined;
}

/** A whole URL from what somebody typed: a path belongs to the origin. */
export const urlOf = (typed: string, origin: string) =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `${origin}/${typed.replace(/^\//, "")}`;
