/** The runbooks of docs/, in a file of their own that is loaded when somebody reads one. */
const FILES = import.meta.glob<string>("../../../../docs/runbook/*.md", {
  query: "?raw",
  import: "default",
  eager: true,
});

export const RUNBOOKS: Record<string, string> = Object.fromEntries(
  Object.entries(FILES).map(([path, text]) => [
    (path.split("/").at(-1) ?? "").replace(/\.md$/, "").replaceAll("-", "_"),
    text,
  ]),
);
