/** What happened to a domain: its visits, its errors by class, and how its state moved. */
import { Link, useNavigate } from "@tanstack/react-router";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, ErrorNote, Select, Skeleton, State, Time } from "../../ui/basic";
import { bytes, duration, number, pathOf, words } from "../../ui/format";
import { type Column, List, useList } from "../../ui/list";
import type { Domain } from "./domain";
import { whatMoved } from "./moves";

type Task = Schemas["TaskRow"];
type Outcome = NonNullable<Task["outcome"]>;
const OUTCOMES: readonly Outcome[] = [
  "success",
  "failed",
  "timeout",
  "blocked_robots",
  "blocked_4xx",
  "blocked_5xx",
  "cancelled",
];

const VISIT_COLUMNS: Column<Task>[] = [
  {
    name: "outcome",
    width: "8.5rem",
    cell: (task) => <State of={task.outcome ?? task.status} title={task.error_message ?? undefined} />,
  },
  {
    name: "page",
    width: "minmax(8rem,3fr)",
    cell: (task) => (
      <Link to="/tasks/$task" params={{ task: String(task.id) } as never} className="hover:underline" title={task.url}>
        {pathOf(task.url)}
      </Link>
    ),
  },
  { name: "answer", width: "5rem", isNumber: true, isWideOnly: true, cell: (task) => task.status_code ?? "–" },
  {
    name: "took",
    width: "6rem",
    isNumber: true,
    isWideOnly: true,
    cell: (task) => duration(task.response_time_ms == null ? null : task.response_time_ms / 1000),
  },
  { name: "size", width: "6rem", isNumber: true, isWideOnly: true, cell: (task) => bytes(task.bytes) },
  { name: "tries", width: "4.5rem", isNumber: true, isWideOnly: true, cell: (task) => number(task.retry_count + 1) },
  {
    name: "when",
    width: "minmax(8rem,1fr)",
    isWideOnly: true,
    cell: (task) => <Time at={task.completed_at ?? task.scheduled_for} />,
  },
];

function useTasks(name: string, outcome: Outcome | undefined, status?: "failed") {
  return useList<Task>(
    ["domain", name, "tasks", outcome, status],
    (after) => ask(api.GET("/api/tasks", { params: { query: { domain: name, outcome, status, after, limit: 100 } } })),
    { refetchInterval: 5_000 },
  );
}

export function Visits({ name }: { name: string }) {
  const [filters, setFilters] = useFilters();
  const navigate = useNavigate();
  const outcome = OUTCOMES.find((known) => known === filters.outcome);
  const tasks = useTasks(name, outcome);
  return (
    <Card
      title="Visits, newest first"
      pad={false}
      action={
        <Select
          label="Outcome"
          value={outcome}
          onChange={(chosen) => setFilters({ outcome: chosen })}
          options={OUTCOMES}
          all="all"
        />
      }
    >
      <List
        label={`Visits to ${name}`}
        rows={tasks.rows}
        columns={VISIT_COLUMNS}
        keyOf={(task) => task.id}
        query={tasks}
        onOpen={(task) => void navigate({ to: "/tasks/$task", params: { task: String(task.id) } } as never)}
        empty={
          <Empty title={outcome ? `No visit ended as ${words(outcome)}` : "Not visited yet"}>
            {outcome ? "Another outcome may have visits." : "Visits appear here as soon as a worker takes the domain."}
          </Empty>
        }
      />
    </Card>
  );
}

export function DomainErrors({ domain }: { domain: Domain }) {
  const navigate = useNavigate();
  const failed = useTasks(domain.name, undefined, "failed");
  const classes = domain.outcomes.filter((row) => row.outcome !== "success");
  const most = Math.max(...classes.map((row) => row.tasks), 1);
  return (
    <div className="flex flex-col gap-4">
      <Card title="By class" pad={classes.length === 0}>
        {classes.length ? (
          <ul className="divide-y divide-line">
            {classes.map((row) => (
              <li key={`${row.outcome} ${row.reason}`}>
                <Link
                  to="/tasks"
                  search={{ domain: domain.name, outcome: row.outcome } as never}
                  className="grid grid-cols-[8.5rem_1fr_4rem] items-center gap-3 px-4 py-2 hover:bg-raised sm:grid-cols-[8.5rem_minmax(6rem,14rem)_1fr_5rem]"
                >
                  <span>
                    <State of={row.outcome} />
                  </span>
                  <span className="min-w-0 truncate">{words(row.reason)}</span>
                  <span className="hidden h-2 overflow-hidden rounded-full bg-raised sm:block" aria-hidden="true">
                    <span
                      className="block h-full rounded-full bg-bad"
                      style={{ width: `${(row.tasks / most) * 100}%` }}
                    />
                  </span>
                  <span className="text-right tabular-nums">{number(row.tasks)}</span>
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-soft">Every visit brought a page.</p>
        )}
      </Card>
      <Card title="Visits that failed, newest first" pad={false}>
        <List
          label={`Failed visits to ${domain.name}`}
          rows={failed.rows}
          columns={FAILED_COLUMNS}
          keyOf={(task) => task.id}
          query={failed}
          height="24rem"
          onOpen={(task) => void navigate({ to: "/tasks/$task", params: { task: String(task.id) } } as never)}
          empty={<Empty title="No visit failed" />}
        />
      </Card>
    </div>
  );
}

const FAILED_COLUMNS: Column<Task>[] = [
  {
    name: "error",
    width: "9rem",
    cell: (task) => <Badge tone="bad">{task.status_code ?? words(task.error_code)}</Badge>,
  },
  {
    name: "page",
    width: "minmax(8rem,2fr)",
    cell: (task) => (
      <Link to="/tasks/$task" params={{ task: String(task.id) } as never} className="hover:underline" title={task.url}>
        {pathOf(task.url)}
      </Link>
    ),
  },
  {
    name: "what happened",
    width: "minmax(10rem,3fr)",
    isWideOnly: true,
    cell: (task) => <span title={task.error_message ?? undefined}>{task.error_message ?? "–"}</span>,
  },
  { name: "whose fault", width: "6rem", isWideOnly: true, cell: (task) => task.blame ?? "–" },
  { name: "when", width: "minmax(8rem,1fr)", isWideOnly: true, cell: (task) => <Time at={task.completed_at} /> },
];

export function DomainHistory({ name }: { name: string }) {
  const moves = useList<Schemas["Move"]>(
    ["domain", name, "history"],
    (after) =>
      ask(
        api.GET("/api/domains/{domain}/history", { params: { path: { domain: name }, query: { after, limit: 100 } } }),
      ),
    { refetchInterval: 10_000 },
  );
  if (moves.isPending)
    return (
      <Card>
        <Skeleton lines={6} />
      </Card>
    );
  if (moves.isError && !moves.rows.length)
    return (
      <Card>
        <ErrorNote error={moves.error} again={() => void moves.refetch()} />
      </Card>
    );
  if (!moves.rows.length)
    return (
      <Card>
        <Empty title="Its state has not moved yet">Each change of state, with who made it and why, is kept here.</Empty>
      </Card>
    );
  return (
    <Card title="How its state moved, newest first">
      <ol className="flex flex-col">
        {moves.rows.map((move, index) => (
          <li key={move.id} className="relative grid grid-cols-[1rem_1fr] gap-x-3 pb-5 last:pb-0">
            {index < moves.rows.length - 1 && (
              <span className="absolute top-3 bottom-0 left-[0.4375rem] w-0.5 bg-line" aria-hidden="true" />
            )}
            <span
              className={`relative mt-1 size-4 rounded-full border-4 border-surface ${dotTone(move)}`}
              aria-hidden="true"
            />
            <div className="min-w-0">
              <p className="flex flex-wrap items-center gap-2">
                <Moved move={move} older={moves.rows[index + 1]} />
              </p>
              {move.reason && <p className="mt-0.5 break-words">{move.reason}</p>}
              <p className="mt-0.5 text-xs text-soft">
                <Time at={move.moved_at} isExact /> · by {move.moved_by}
                {move.reason_code && ` · ${words(move.reason_code)}`}
              </p>
            </div>
          </li>
        ))}
      </ol>
      {moves.hasNextPage && (
        <Button isBusy={moves.isFetchingNextPage} onClick={() => void moves.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </Card>
  );
}

function Moved({ move, older }: { move: Schemas["Move"]; older: Schemas["Move"] | undefined }) {
  const kind = whatMoved(move, older);
  if (kind === "state")
    return (
      <>
        <State of={move.from_status} /> <span className="text-soft">became</span> <State of={move.to_status} />
        {!move.is_active && <Badge tone="warn">paused</Badge>}
      </>
    );
  return (
    <>
      <span className="font-medium">{kind === "paused" ? "Paused" : kind === "resumed" ? "Resumed" : "Changed"}</span>{" "}
      <span className="text-soft">while</span> <State of={move.to_status} />
    </>
  );
}

const dotTone = (move: Schemas["Move"]) =>
  !move.is_active
    ? "bg-warn"
    : move.to_status === "active"
      ? "bg-good"
      : move.to_status === "pending"
        ? "bg-info"
        : move.to_status === "exhausted"
          ? "bg-soft"
          : "bg-bad";
