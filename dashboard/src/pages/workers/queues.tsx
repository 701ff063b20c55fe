/** Queues of a broker, where there is one: what waits in them, who listens, and messages no worker could use. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useAct } from "../../ui/act";
import { Badge, Button, Card, Loaded } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { number } from "../../ui/format";

type QueueRow = Schemas["QueueRow"];
const WAYS = {
  priority_queue: "what is urgent",
  crawl_queue: "domains that are due",
  parse_queue: "stored pages to be read again",
  dead_letters: "messages no worker could use",
} as const;

/** Nothing where workers ask the database themselves. */
export function Queues() {
  const queues = useQuery({ queryKey: ["queues"], queryFn: () => ask(api.GET("/api/queues")), refetchInterval: 5_000 });
  if (!queues.data || queues.data.mode === "inline") return null;
  const { is_reachable, message, queues: rows, dead_letters } = queues.data;
  return (
    <Card
      title="Queues"
      pad={false}
      action={is_reachable ? <Badge tone="good">broker answers</Badge> : <Badge tone="warn">broker away</Badge>}
    >
      {!is_reachable && <p className="p-4 text-warn">{message}</p>}
      {rows.length > 0 && (
        <ul className="divide-y divide-line">
          {rows.map((row) => (
            <Queue key={row.queue} of={row} />
          ))}
        </ul>
      )}
      {!!dead_letters && <Dead count={dead_letters} />}
    </Card>
  );
}

function Queue({ of: row }: { of: QueueRow }) {
  const isDead = row.kind === "dead_letters";
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
      <span className="font-mono text-[0.8125rem] break-all">{row.queue}</span>
      <span className="text-soft">{WAYS[row.kind]}</span>
      <span className="ml-auto flex gap-x-3 tabular-nums">
        <span className={isDead && row.messages ? "text-bad" : ""}>
          {number(row.messages)} {row.messages === 1 ? "message" : "messages"}
        </span>
        {!isDead && (
          <span className="w-20 text-right text-soft">
            {number(row.consumers)} {row.consumers === 1 ? "listens" : "listen"}
          </span>
        )}
      </span>
    </li>
  );
}

function Dead({ count }: { count: number }) {
  const isAdmin = useIsAdmin();
  const confirm = useConfirm();
  const { act, isBusy } = useAct();
  const [isOpen, setIsOpen] = useState(false);
  const letters = useQuery({
    queryKey: ["queues", "dead"],
    queryFn: () => ask(api.GET("/api/queues/dead", { params: { query: { limit: 20 } } })),
    enabled: isOpen,
  });
  const redrive = () =>
    act(
      () => ask(api.POST("/api/admin/queues/dead/redrive", { body: { all: true } })),
      (done) => `${number(done.redriven)} put back; what cannot be used comes here again.`,
      "queues",
    );
  const purge = async () => {
    const yes = await confirm({
      title: "Throw the dead letters away?",
      text: "They are gone for good. What is to be crawled is in the database, and is offered anew.",
      verb: "Throw them away",
    });
    if (yes)
      await act(
        () => ask(api.DELETE("/api/admin/queues/dead")),
        (done) => `${number(Object.values(done.purged).reduce((sum, each) => sum + each, 0))} thrown away.`,
        "queues",
      );
  };
  return (
    <div className="border-t border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"} the dead letters
        </Button>
        {isAdmin && (
          <Button isBusy={isBusy} onClick={() => void redrive()}>
            Put back all {number(count)}
          </Button>
        )}
        {isAdmin && (
          <Button isBusy={isBusy} onClick={() => void purge()}>
            Throw away
          </Button>
        )}
      </div>
      {isOpen && (
        <Loaded query={letters} lines={2}>
          {(data) => (
            <ul className="mt-3 flex flex-col gap-2">
              {data.items.map((letter, index) => (
                <li key={index}>
                  <p>
                    {letter.why} <span className="text-soft">refused in {letter.queue ?? "an unknown queue"}</span>
                  </p>
                  <p className="font-mono text-xs break-all text-soft">{letter.body}</p>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      )}
    </div>
  );
}
