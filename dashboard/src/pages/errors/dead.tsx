/** Dead letters: visits that were given up, by our own fault or after all retries, and webhooks that nobody took. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { Badge, Card, Empty, Loaded, Time } from "../../ui/basic";
import { number, pathOf } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { Redrive } from "./redrive";

type DeadLetters = Schemas["DeadLetters"];
type DeadTask = Schemas["DeadTask"];
type DeadWebhook = Schemas["DeadWebhook"];
type Query = {
  data: DeadLetters | undefined;
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
};

export function Dead({ query }: { query: Query }) {
  return (
    <Loaded query={query} lines={6}>
      {(letters) => {
        if (!letters.tasks.length && !letters.webhooks.length)
          return (
            <Card>
              <Empty title="No dead letters">Nothing was given up, and every webhook was heard.</Empty>
            </Card>
          );
        return (
          <div className="flex flex-col gap-4">
            <Card
              title={`Visits (${number(letters.tasks.length)})`}
              pad={false}
              action={<Redrive text="Try all dead letters again" />}
              className="overflow-hidden"
            >
              <List
                label="Dead visits"
                rows={letters.tasks}
                columns={TASKS}
                keyOf={(letter) => letter.task_id}
                query={query}
                empty="No visit was given up"
                height="min(45dvh,28rem)"
              />
            </Card>
            <Card
              title={`Webhooks nobody took (${number(letters.webhooks.length)})`}
              pad={false}
              className="overflow-hidden"
            >
              <List
                label="Dead webhooks"
                rows={letters.webhooks}
                columns={WEBHOOKS}
                keyOf={(letter) => letter.id}
                query={query}
                empty="Every webhook was heard"
                height="min(45dvh,28rem)"
              />
            </Card>
          </div>
        );
      }}
    </Loaded>
  );
}

const TASKS: Column<DeadTask>[] = [
  {
    name: "Page",
    width: "minmax(8rem,3fr)",
    cell: (letter) => (
      <Link
        to="/tasks/$task"
        params={{ task: String(letter.task_id) } as never}
        title={letter.url}
        className="hover:underline"
      >
        <span className="text-soft">{letter.domain}</span> {pathOf(letter.url)}
      </Link>
    ),
  },
  {
    name: "Problem",
    width: "minmax(7rem,3fr)",
    cell: (letter) => (
      <Link
        to="/errors/$fingerprint"
        params={{ fingerprint: letter.fingerprint } as never}
        search={{ since: "ever" } as never}
        title={letter.message ?? letter.code}
        className="text-brand hover:underline"
      >
        {letter.message ?? letter.code}
      </Link>
    ),
  },
  { name: "Tries", width: "4rem", isNumber: true, isWideOnly: true, cell: (letter) => letter.retry_count + 1 },
  { name: "Died", width: "7rem", isWideOnly: true, cell: (letter) => <Time at={letter.died_at} /> },
];

const WEBHOOKS: Column<DeadWebhook>[] = [
  { name: "Address", width: "minmax(8rem,3fr)", cell: (letter) => <span title={letter.url}>{letter.url}</span> },
  {
    name: "Why",
    width: "minmax(6rem,2fr)",
    cell: (letter) => (
      <span title={letter.error ?? undefined}>
        {letter.status_code ? `answered ${letter.status_code}` : (letter.error ?? "–")}
      </span>
    ),
  },
  {
    name: "About",
    width: "7rem",
    isWideOnly: true,
    cell: (letter) =>
      letter.task_id ? (
        <Link
          to="/tasks/$task"
          params={{ task: String(letter.task_id) } as never}
          className="text-brand hover:underline"
        >
          Task {letter.task_id}
        </Link>
      ) : (
        <Badge>{letter.kind}</Badge>
      ),
  },
  { name: "Tries", width: "4rem", isNumber: true, isWideOnly: true, cell: (letter) => letter.tries },
  { name: "Given up", width: "7rem", isWideOnly: true, cell: (letter) => <Time at={letter.died_at} /> },
];
