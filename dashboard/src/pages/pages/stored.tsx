/** The stored versions of a page: each body can be saved, and two of them compared line by line. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, Empty, ErrorNote, Loaded, Time } from "../../ui/basic";
import { bytes, number, words } from "../../ui/format";
import { type Column, List, useList } from "../../ui/list";

type Version = Schemas["PageVersion"];
const CHANGES: Record<string, string> = { first: "first", same: "the same", changed: "changed" };
const MOST_LINES = 2000;

export function StoredVersions({ page }: { page: number }) {
  const [chosen, choose] = useState<number[]>([]);
  const list = useList<Version>(
    ["page", String(page), "stored"],
    (after) => ask(api.GET("/api/pages/{page}/versions", { params: { path: { page }, query: { limit: 20, after } } })),
    { keyOf: (version) => version.task_id },
  );
  const isNone = !list.isPending && list.rows.length === 0;
  const toggle = (task: number) =>
    choose((now) => (now.includes(task) ? now.filter((each) => each !== task) : [...now, task].slice(-2)));
  const [older, newer] = [...chosen].sort((one, other) => one - other);
  return (
    <div className="mb-4 flex flex-col gap-4">
      <Card title="Stored versions, newest first" pad={isNone}>
        {isNone && !list.isError ? (
          <Empty title="No body is stored">
            The content policy “snapshot” or “archive” of its domain keeps bodies from the next visit on.
          </Empty>
        ) : (
          <List
            label="Stored versions"
            rows={list.rows}
            columns={columns(chosen, toggle)}
            keyOf={(version) => version.task_id}
            query={list}
            empty={<Empty title="No body is stored" />}
          />
        )}
      </Card>
      {list.rows.length > 1 && newer === undefined && (
        <p className="text-sm text-soft">Choose two versions to see what changed.</p>
      )}
      {older !== undefined && newer !== undefined && <Difference page={page} from={older} to={newer} />}
    </div>
  );
}

const columns = (chosen: number[], toggle: (task: number) => void): Column<Version>[] => [
  {
    name: "Pick",
    width: "3.5rem",
    cell: (version) => (
      <input
        type="checkbox"
        className="block size-4"
        aria-label={`Compare the version of ${version.fetched_at}`}
        checked={chosen.includes(version.task_id)}
        disabled={version.state !== "stored"}
        onChange={() => toggle(version.task_id)}
      />
    ),
  },
  { name: "Fetched", width: "minmax(6.5rem,1fr)", cell: (version) => <Time at={version.fetched_at} /> },
  {
    name: "Content",
    width: "6.5rem",
    cell: (version) =>
      version.change === "changed" ? (
        <Badge tone="info">changed</Badge>
      ) : (
        <span className="text-soft">{version.change ? CHANGES[version.change] : "–"}</span>
      ),
  },
  {
    name: "Kind",
    width: "6rem",
    isWideOnly: true,
    cell: (version) => words(version.kind),
  },
  {
    name: "Type",
    width: "minmax(6rem,1fr)",
    isWideOnly: true,
    cell: (version) => <span title={version.content_hash ?? undefined}>{version.content_type || "–"}</span>,
  },
  { name: "Size", width: "5.5rem", isNumber: true, isWideOnly: true, cell: (version) => bytes(version.size_bytes) },
  {
    name: "Stored",
    width: "5.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (version) => bytes(version.stored_bytes),
  },
  {
    name: "Body",
    width: "5rem",
    cell: (version) =>
      version.state === "stored" ? (
        <a
          href={`/api/tasks/${version.task_id}/body`}
          download
          className="text-brand hover:underline"
          aria-label={`Save the body of ${version.fetched_at}`}
        >
          save
        </a>
      ) : (
        <Badge tone="warn">{words(version.state)}</Badge>
      ),
  },
];

function Difference({ page, from, to }: { page: number; from: number; to: number }) {
  const found = useQuery({
    queryKey: ["page", String(page), "diff", from, to],
    queryFn: () => ask(api.GET("/api/pages/{page}/diff", { params: { path: { page }, query: { from, to } } })),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (found.isError)
    return (
      <Card title="What changed">
        <ErrorNote error={found.error} again={() => void found.refetch()} />
      </Card>
    );
  return (
    <Card title="What changed">
      <Loaded query={found} lines={6}>
        {(diff) => (
          <div className="flex flex-col gap-2">
            <p className="text-sm text-soft">
              <Time at={diff.from_at} isExact /> → <Time at={diff.to_at} isExact />: {number(diff.added)} lines added,{" "}
              {number(diff.removed)} removed.
              {diff.is_rough && " They differ in so many places that a part is shown as replaced."}
              {diff.is_truncated && " Only the beginning is shown."}
            </p>
            {diff.diff === "" ? <Empty title="No line differs" /> : <Lines of={diff.diff} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

const toneOf = (line: string) =>
  line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++")
    ? "text-soft"
    : line.startsWith("+")
      ? "text-good"
      : line.startsWith("-")
        ? "text-bad"
        : "";

function Lines({ of }: { of: string }) {
  const lines = of.trimEnd().split("\n");
  return (
    <pre
      role="region"
      tabIndex={0}
      aria-label="Differences, line by line"
      className="max-h-[32rem] overflow-auto rounded-lg border border-line p-3 text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {lines.slice(0, MOST_LINES).map((line, index) => (
        <div key={index} className={toneOf(line)}>
          {line || " "}
        </div>
      ))}
      {lines.length > MOST_LINES && <div className="text-soft">and {number(lines.length - MOST_LINES)} lines more</div>}
    </pre>
  );
}
