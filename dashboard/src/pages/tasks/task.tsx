/** One task: its life as a timeline with the evidence, the other visits of its page, and what can be done with it now. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, ask } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Badge, Button, Card, Facts, Loaded, PageHead, State, Time, type Tone, WebLink } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { bytes, duration, pathOf, words } from "../../ui/format";
import { useWhy, WhyAnswer } from "../why/why";
import { verbsOf } from "./filters";
import { blameOf, lifeOf, type Step, type Task } from "./life";
import { PriorityDialog } from "./priority";
import { RestartDialog } from "./restart";
import { Stack } from "./stack";

export function TaskPage() {
  const id = Number((useParams({ strict: false }) as { task?: string }).task);
  const task = useQuery({
    queryKey: ["task", id],
    queryFn: () => ask(api.GET("/api/tasks/{task}", { params: { path: { task: id } } })),
    refetchInterval: (query) => (query.state.data && query.state.data.outcome == null ? 2_000 : 15_000),
  });
  return (
    <Loaded query={task} lines={12}>
      {(found) => (
        <>
          <Head task={found} />
          <div className="grid gap-4 xl:grid-cols-[3fr_2fr]">
            <div className="flex min-w-0 flex-col gap-4">
              <Card title="Its life">
                <Timeline task={found} />
              </Card>
              {found.error_code && <Trouble task={found} />}
            </div>
            <div className="flex min-w-0 flex-col gap-4">
              <Card title="What is known of it">
                <Known task={found} />
              </Card>
              {found.outcome == null && (
                <Card title="When will it be fetched?">
                  {found.status === "paused" ? (
                    <p>
                      {found.is_waiting ? `When task ${found.depends_on} is completed.` : "When somebody resumes it."}
                    </p>
                  ) : (
                    <When url={found.url} />
                  )}
                </Card>
              )}
              <Card title="All visits of this page" pad={false}>
                <Visits task={found} />
              </Card>
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Head({ task }: { task: Task }) {
  return (
    <PageHead
      title={
        <>
          Task {task.id}{" "}
          <span className="align-middle">
            <State of={task.outcome ?? task.status} />
          </span>
        </>
      }
      about={<WebLink url={task.url} />}
    >
      <Verbs task={task} />
    </PageHead>
  );
}

function Verbs({ task }: { task: Task }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const navigate = useNavigate();
  const { act, isBusy } = useAct();
  const [asked, setAsked] = useState<"restart" | "priority" | null>(null);
  if (!isAdmin) return null;
  const path = { params: { path: { task: task.id } } };
  const verbs = verbsOf(task);
  const keys = ["task", "tasks"];
  const pause = () =>
    act(
      () => ask(api.POST("/api/admin/tasks/{task}/pause", path)),
      (state) => state.message,
      ...keys,
    );
  const resume = () =>
    act(
      () => ask(api.POST("/api/admin/tasks/{task}/resume", path)),
      (state) => state.message,
      ...keys,
    );
  const cancel = async () => {
    const yes = await confirm({
      title: "Cancel this task?",
      text: `Task ${task.id} is closed for good. Its page can be visited again by a new task.`,
      verb: "Cancel the task",
      isDangerous: true,
      reason: "Why (kept in the history)",
    });
    if (yes)
      await act(
        () => ask(api.POST("/api/admin/tasks/{task}/cancel", { ...path, body: { reason: yes.reason || null } })),
        (state) => state.message,
        ...keys,
      );
  };
  const reread = () =>
    act(
      () => ask(api.POST("/api/admin/tasks/{task}/restart-parsing", path)),
      (done) => done.message,
      ...keys,
    );
  return (
    <>
      {verbs.includes("pause") && (
        <Button isBusy={isBusy} onClick={() => void pause()}>
          Pause
        </Button>
      )}
      {verbs.includes("resume") && (
        <Button kind="main" isBusy={isBusy} onClick={() => void resume()}>
          Resume
        </Button>
      )}
      {verbs.includes("priority") && (
        <Button disabled={isBusy} onClick={() => setAsked("priority")}>
          Priority
        </Button>
      )}
      {task.body_ref && (
        <Button
          isBusy={isBusy}
          title="The stored body is read again, without any request"
          onClick={() => void reread()}
        >
          Read again
        </Button>
      )}
      {verbs.includes("restart") && (
        <Button disabled={isBusy} onClick={() => setAsked("restart")}>
          Restart
        </Button>
      )}
      {verbs.includes("cancel") && (
        <Button disabled={isBusy} onClick={() => void cancel()}>
          Cancel task
        </Button>
      )}
      {asked === "priority" && (
        <PriorityDialog
          now={task.priority}
          onClose={() => setAsked(null)}
          onChoose={(priority) => {
            setAsked(null);
            void act(
              () => ask(api.PATCH("/api/admin/tasks/{task}/priority", { ...path, body: { priority } })),
              (state) => state.message,
              ...keys,
            );
          }}
        />
      )}
      {asked === "restart" && (
        <RestartDialog
          task={task}
          onClose={() => setAsked(null)}
          onDone={(made) => {
            setAsked(null);
            void navigate({ to: "/tasks/$task", params: { task: String(made) } } as never);
          }}
        />
      )}
    </>
  );
}

const DOTS: Record<Tone, string> = {
  plain: "bg-soft",
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
  info: "bg-info",
};

function Timeline({ task }: { task: Task }) {
  const steps = lifeOf(task);
  return (
    <ol className="flex flex-col">
      {steps.map((step, index) => (
        <li key={index} className="relative grid grid-cols-[1rem_1fr] gap-3 pb-4 last:pb-0">
          {index < steps.length - 1 && (
            <span className="absolute top-3 bottom-[-0.25rem] left-[0.44rem] w-px bg-line" aria-hidden="true" />
          )}
          <span
            className={`z-10 mt-1 ml-0.5 size-3 rounded-full border-2 border-surface ${DOTS[step.tone]} ${step.isAhead ? "opacity-40" : ""}`}
            aria-hidden="true"
          />
          <div className="min-w-0">
            <div className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span className="font-medium break-words">
                {step.title} <StepLink link={step.link} />
              </span>
              <span className="text-xs text-soft tabular-nums">
                {step.isAhead ? (
                  <Time at={step.at} />
                ) : (
                  <>
                    <Time at={step.at} isExact />
                    <Since steps={steps} index={index} />
                  </>
                )}
              </span>
            </div>
            {step.pages?.map((page) => (
              <p key={page.id}>
                <Link
                  to="/pages/$page"
                  params={{ page: String(page.id) } as never}
                  className="break-all text-brand hover:underline"
                >
                  {page.text}
                </Link>
              </p>
            ))}
            {step.facts.length > 0 && <p className="text-soft break-words">{step.facts.join(" · ")}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

const Since = ({ steps, index }: { steps: Step[]; index: number }) => {
  const before = steps[index - 1];
  const now = steps[index];
  return before && now ? (
    <span className="ml-2">+{duration((Date.parse(now.at) - Date.parse(before.at)) / 1000)}</span>
  ) : null;
};

function StepLink({ link }: { link: Step["link"] }) {
  if (!link) return null;
  if (link.to === "task") return <TaskLink id={link.id}>after task {link.id}</TaskLink>;
  if (link.to === "run")
    return (
      <Link
        to="/runs/$run"
        params={{ run: String(link.id) } as never}
        className="font-normal text-brand hover:underline"
      >
        in run {link.id}
      </Link>
    );
  return (
    <Link to="/workers" className="font-normal text-brand hover:underline">
      see workers
    </Link>
  );
}

const TaskLink = ({ id, children }: { id: number; children: ReactNode }) => (
  <Link to="/tasks/$task" params={{ task: String(id) } as never} className="font-normal text-brand hover:underline">
    {children}
  </Link>
);

function Known({ task }: { task: Task }) {
  const robots = useWhy(task.url).data?.page_checks.find((gate) => gate.name === "robots");
  const facts: [string, ReactNode][] = [
    [
      "Domain",
      <>
        <Link to="/domains/$domain" params={{ domain: task.domain } as never} className="text-brand hover:underline">
          {task.domain}
        </Link>{" "}
        <State of={task.domain_is_active ? task.domain_status : "paused"} />
      </>,
    ],
    [
      "Page",
      <>
        <Link
          to="/pages/$page"
          params={{ page: String(task.page_id) } as never}
          className="break-all text-brand hover:underline"
        >
          {pathOf(task.url)}
        </Link>{" "}
        <State of={task.page_status} />
      </>,
    ],
    [
      "Run",
      task.run_id ? (
        <Link to="/runs/$run" params={{ run: String(task.run_id) } as never} className="text-brand hover:underline">
          Run {task.run_id}
        </Link>
      ) : (
        "none yet"
      ),
    ],
    ["Priority", `${task.priority} (1 is first, 10 is last)`],
    ["Try", `${task.retry_count + 1}${task.max_retries != null ? ` of ${task.max_retries + 1}` : ""}`],
    [
      "Visited again",
      task.is_recurring === false
        ? "no, once only"
        : task.revisit_every_s
          ? `every ${duration(task.revisit_every_s)}`
          : "as its domain says",
    ],
    ["Received", task.requested_at ? bytes(task.bytes) : "nothing was asked for"],
    [
      "Robots, now",
      <>
        {robots ? <State of={robots.is_open === false ? "blocked" : "ok"} /> : null}{" "}
        <span>{robots?.sentence ?? "–"}</span>
      </>,
    ],
    ["Body", task.body_ref ? "kept, can be read again" : "not kept"],
  ];
  if (task.depends_on)
    facts.push([
      "Waits for",
      <TaskLink key="depends" id={task.depends_on}>
        task {task.depends_on}
      </TaskLink>,
    ]);
  if (task.webhook_url) facts.push(["Webhook", <WebLink key="hook" url={task.webhook_url} />]);
  return <Facts of={facts} />;
}

/** Why an open task is not fetched yet: what stands between it and its page. */
const When = ({ url }: { url: string }) => (
  <Loaded query={useWhy(url)} lines={3}>
    {(why) => <WhyAnswer why={why} isShort />}
  </Loaded>
);

function Trouble({ task }: { task: Task }) {
  return (
    <Card
      title="What went wrong"
      action={
        <Link
          to="/tasks"
          search={{ error_code: task.error_code, domain: task.domain } as never}
          className="text-brand hover:underline"
        >
          The same error in this domain
        </Link>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="break-words">{task.error_message ?? task.error_code}</p>
        <p className="flex flex-wrap gap-2">
          <Badge tone="bad">{words(task.error_code)}</Badge>
          {task.blame && <Badge>{blameOf(task.blame)}</Badge>}
        </p>
        {task.fingerprint && (
          <Link
            to="/errors/$fingerprint"
            params={{ fingerprint: task.fingerprint } as never}
            className="text-brand hover:underline"
          >
            All failures of this kind
          </Link>
        )}
        {task.stack && <Stack text={task.stack} about="Where in our code" />}
      </div>
    </Card>
  );
}

function Visits({ task }: { task: Task }) {
  const history = useQuery({
    queryKey: ["task", task.id, "history"],
    queryFn: () =>
      ask(api.GET("/api/tasks/{task}/history", { params: { path: { task: task.id }, query: { limit: 100 } } })),
    initialData: { items: task.history, next: null },
    refetchInterval: 10_000,
  });
  return (
    <ol className="max-h-96 divide-y divide-line overflow-auto">
      {history.data.items.map((visit) => (
        <li key={visit.id} className={`flex flex-col gap-0.5 px-4 py-2 ${visit.id === task.id ? "bg-raised" : ""}`}>
          <div className="flex flex-wrap items-center gap-2">
            <State of={visit.outcome ?? visit.status} />
            {visit.id === task.id ? (
              <span className="font-medium" aria-current="true">
                Task {visit.id}, this one
              </span>
            ) : (
              <TaskLink id={visit.id}>Task {visit.id}</TaskLink>
            )}
            <span className="ml-auto text-xs text-soft">
              <Time at={visit.completed_at ?? visit.scheduled_for} />
            </span>
          </div>
          <p className="text-xs text-soft break-words">
            {relation(visit, task)}
            {[
              visit.status_code,
              visit.response_time_ms != null ? duration(visit.response_time_ms / 1000) : null,
              visit.error_message,
            ]
              .filter((part) => part != null)
              .join(" · ")}
          </p>
        </li>
      ))}
    </ol>
  );
}

const relation = (visit: { id: number; parent_task_id?: number | null; retry_count: number }, task: Task) =>
  visit.id === task.parent_task_id
    ? "what it follows · "
    : visit.parent_task_id === task.id
      ? "what follows it · "
      : "";
