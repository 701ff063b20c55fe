/** The proxies a domain is asked through: how each does there, and how large the pool should be. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Badge, Button, Card, Empty, Facts, Field, Loaded, Stat, Time } from "../../ui/basic";
import { Dialog, useConfirm } from "../../ui/dialog";
import { duration, number, percent, short } from "../../ui/format";
import { type Column, List } from "../../ui/list";
import { addressOf, healthOf, TONES } from "../proxies/health";
import { count } from "./turns";
import { useDeed } from "./verbs";

type Member = Schemas["MemberRow"];
const PRIORITIES = Array.from({ length: 10 }, (_, index) => index + 1);

export function Pool({ name }: { name: string }) {
  const isAdmin = useIsAdmin();
  const [isAssigning, setIsAssigning] = useState(false);
  const pool = useQuery({
    queryKey: ["domain", name, "pool"],
    queryFn: () => ask(api.GET("/api/admin/domains/{domain}/proxies", { params: { path: { domain: name } } })),
    refetchInterval: 5_000,
  });
  const [shown, setShown] = useState<number>();
  const members = pool.data?.items ?? [];
  const open = members.find((member) => member.id === shown);
  const assign = isAdmin && (
    <Button kind="main" onClick={() => setIsAssigning(true)}>
      Assign proxies
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      {members.length > 0 && <Advice name={name} />}
      <Card title="Its proxies" pad={false} action={members.length > 0 && assign}>
        <List
          label={`Proxies of ${name}`}
          rows={members}
          columns={isAdmin ? [...COLUMNS, verbsOf(name)] : COLUMNS}
          keyOf={(member) => member.id}
          query={pool}
          height="28rem"
          onOpen={(member) => setShown(member.id)}
          empty={
            <Empty title="It is asked directly" action={assign}>
              No proxy is assigned. With a pool, each request goes through one of its proxies, and never around them.
            </Empty>
          }
        />
      </Card>
      {open && <MemberDialog name={name} member={open} onClose={() => setShown(undefined)} />}
      {isAssigning && (
        <AssignDialog
          name={name}
          has={new Set(members.map((member) => member.id))}
          onClose={() => setIsAssigning(false)}
        />
      )}
    </div>
  );
}

function Advice({ name }: { name: string }) {
  const advice = useQuery({
    queryKey: ["domain", name, "advice"],
    queryFn: () => ask(api.GET("/api/admin/domains/{domain}/proxies/advice", { params: { path: { domain: name } } })),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={advice} lines={3}>
      {({ items: [found] }) =>
        found ? (
          <div className="flex flex-col gap-3">
            <div className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
              <Stat name="Proxies" value={number(found.proxies)} about={`${number(found.active)} active`} />
              <Stat
                name="Failing"
                value={number(found.failing)}
                about="5 failures in a row"
                tone={found.failing ? "bad" : undefined}
              />
              <Stat
                name="Answers in"
                value={duration(found.avg_response_time_ms === null ? null : found.avg_response_time_ms / 1000)}
                about="on average"
              />
              <Stat
                name="Successes"
                value={short(found.successes)}
                about={
                  found.failed_percent === null
                    ? "not used yet"
                    : `${percent(1 - found.failed_percent / 100)} of requests`
                }
              />
              <Stat
                name="Failures"
                value={short(found.failures)}
                about={
                  found.failed_percent === null ? "not used yet" : `${percent(found.failed_percent / 100)} of requests`
                }
              />
              <Stat
                name="Should be"
                value={number(found.needed)}
                about={`for ${short(found.pages_per_hour)} pages an hour`}
                tone={found.needed > found.active ? "warn" : undefined}
              />
            </div>
            {found.remarks.length > 0 && (
              <ul className="flex flex-wrap gap-2" aria-label="Advice">
                {found.remarks.map((remark) => (
                  <li key={remark}>
                    <Badge tone="warn">{remark}</Badge>
                  </li>
                ))}
              </ul>
            )}
          </div>
        ) : null
      }
    </Loaded>
  );
}

const COLUMNS: Column<Member>[] = [
  { name: "health", width: "6.5rem", cell: (member) => <MemberHealth member={member} /> },
  {
    name: "proxy",
    width: "minmax(10rem,2fr)",
    cell: (member) => <span title={addressOf(member)}>{addressOf(member)}</span>,
  },
  { name: "country", width: "5.5rem", isWideOnly: true, cell: (member) => member.country_code ?? "–" },
  {
    name: "success",
    width: "9rem",
    isNumber: true,
    isWideOnly: true,
    cell: (member) =>
      member.success_rate_percent === null ? (
        "–"
      ) : (
        <>
          {percent(member.success_rate_percent / 100)}{" "}
          <span className="text-xs text-soft">of {short(member.successes + member.failures)}</span>
        </>
      ),
  },
  {
    name: "in a row",
    width: "5.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (member) => number(member.consecutive_failures),
  },
  {
    name: "answers in",
    width: "6.5rem",
    isNumber: true,
    isWideOnly: true,
    cell: (member) => duration(member.avg_response_time_ms === null ? null : member.avg_response_time_ms / 1000),
  },
  {
    name: "last used",
    width: "8rem",
    isWideOnly: true,
    cell: (member) => <Time at={member.last_used_at} empty="never" />,
  },
];

function MemberHealth({ member }: { member: Member }) {
  const health = healthOf(member);
  if (!member.is_proxy_active)
    return (
      <Badge tone="bad" title="The proxy itself is off or failed, for all domains">
        down
      </Badge>
    );
  return (
    <Badge tone={TONES[health]} title={member.last_error ?? undefined}>
      {health}
    </Badge>
  );
}

/** All about one pair; on a phone the only place for its verbs. */
function MemberDialog({ name, member, onClose }: { name: string; member: Member; onClose: () => void }) {
  const isAdmin = useIsAdmin();
  return (
    <Dialog
      title={`Proxy ${member.id} for ${name}`}
      onClose={onClose}
      footer={isAdmin && <MemberVerbs name={name} member={member} />}
    >
      <Facts
        of={[
          ["Address", addressOf(member)],
          ["Health here", <MemberHealth member={member} />],
          ["Priority", number(member.priority)],
          ["Place", [member.country_code, member.provider].filter(Boolean).join(", ") || "–"],
          ["Successes", number(member.successes)],
          ["Failures", `${number(member.failures)}, ${number(member.consecutive_failures)} in a row`],
          ["Last success", <Time at={member.last_success_at} empty="never" />],
          ["Last failure", <Time at={member.last_failure_at} empty="never" />],
          ["Last error", member.last_error ?? "none"],
          ["Tried again", <Time at={member.probe_at} />],
        ]}
      />
    </Dialog>
  );
}

const verbsOf = (name: string): Column<Member> => ({
  name: "priority",
  width: "15.5rem",
  isWideOnly: true,
  cell: (member) => <MemberVerbs name={name} member={member} />,
});

function MemberVerbs({ name, member }: { name: string; member: Member }) {
  const { act, isBusy } = useDeed();
  const confirm = useConfirm();
  const path = { domain: name, proxy: member.id };
  const change = (body: { is_active?: boolean; priority?: number }, said: string) =>
    act(
      () => ask(api.PATCH("/api/admin/domains/{domain}/proxies/{proxy}", { params: { path }, body })),
      () => said,
    );
  const remove = async () => {
    const yes = await confirm({
      title: "Take this proxy from the domain?",
      text: `${addressOf(member)} is not used for ${name} any more. Without any proxy the domain is asked directly.`,
      verb: "Take 1 proxy away",
      isDangerous: true,
    });
    if (yes)
      await act(
        () => ask(api.DELETE("/api/admin/domains/{domain}/proxies/{proxy}", { params: { path } })),
        () => `${addressOf(member)} is no longer used for ${name}.`,
      );
  };
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <select
        aria-label={`Priority of ${addressOf(member)}`}
        disabled={isBusy}
        value={member.priority}
        onChange={(event) =>
          void change({ priority: Number(event.target.value) }, `Its priority is ${event.target.value}.`)
        }
        className="min-h-8 rounded-md border border-line bg-surface px-1.5"
      >
        {PRIORITIES.map((priority) => (
          <option key={priority} value={priority}>
            {priority}
          </option>
        ))}
      </select>
      <Button
        className="!min-h-8 px-2"
        isBusy={isBusy}
        onClick={() =>
          void change(
            { is_active: !member.is_active },
            member.is_active
              ? "It is not used here until it is enabled."
              : "It is used again, and its failures are forgotten.",
          )
        }
      >
        {member.is_active ? "Disable" : "Enable"}
      </Button>
      <Button kind="quiet" className="!min-h-8 px-2" disabled={isBusy} onClick={() => void remove()}>
        Remove
      </Button>
    </span>
  );
}

function AssignDialog({ name, has, onClose }: { name: string; has: Set<number>; onClose: () => void }) {
  const proxies = useQuery({ queryKey: ["proxies"], queryFn: () => ask(api.GET("/api/proxies")) });
  const [chosen, setChosen] = useState<Set<number>>(new Set());
  const [priority, setPriority] = useState("5");
  const { act, isBusy } = useDeed();
  const free = (proxies.data?.items ?? []).filter((proxy) => !has.has(proxy.id));
  const toggle = (id: number) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const send = async () => {
    const done = await act(
      () =>
        ask(
          api.POST("/api/admin/domains/{domain}/proxies", {
            params: { path: { domain: name } },
            body: { proxies: [...chosen], priority: Number(priority) },
          }),
        ),
      (answer) => `${count(answer.new.length, "proxy", "proxies")} assigned; ${name} is asked through its pool only.`,
    );
    if (done) onClose();
  };
  return (
    <Dialog
      title={`Assign proxies to ${name}`}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" isBusy={isBusy} disabled={!chosen.size} onClick={() => void send()}>
            Assign {count(chosen.size, "proxy", "proxies")}
          </Button>
        </>
      }
    >
      <Loaded query={proxies} lines={4}>
        {(data) =>
          free.length ? (
            <div className="flex flex-col gap-4">
              <fieldset>
                <legend className="mb-1 font-medium">Proxies</legend>
                <Button
                  kind="quiet"
                  className="!min-h-8 px-2"
                  onClick={() => setChosen(new Set(chosen.size === free.length ? [] : free.map((proxy) => proxy.id)))}
                >
                  {chosen.size === free.length ? "Choose none" : `Choose all ${number(free.length)}`}
                </Button>
                <ul className="max-h-72 overflow-auto rounded-md border border-line">
                  {free.map((proxy) => (
                    <li key={proxy.id} className="border-b border-line last:border-b-0">
                      <label className="flex items-center gap-3 px-3 py-2 hover:bg-raised">
                        <input type="checkbox" checked={chosen.has(proxy.id)} onChange={() => toggle(proxy.id)} />
                        <span className="min-w-0 flex-1 truncate">{addressOf(proxy)}</span>
                        <span className="text-xs text-soft">
                          {[proxy.country_code, proxy.provider].filter(Boolean).join(", ")}
                        </span>
                        <Badge tone={TONES[healthOf(proxy)]}>{healthOf(proxy)}</Badge>
                      </label>
                    </li>
                  ))}
                </ul>
              </fieldset>
              <Field label="Priority" hint="1 is used first, 10 last.">
                {(given) => (
                  <select {...given} value={priority} onChange={(event) => setPriority(event.target.value)}>
                    {PRIORITIES.map((each) => (
                      <option key={each} value={each}>
                        {each}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
          ) : data.items.length ? (
            <Empty title="All proxies are in its pool already" />
          ) : (
            <Empty
              title="There are no proxies yet"
              action={
                <Link to="/proxies" className="text-brand hover:underline">
                  To the proxies
                </Link>
              }
            >
              Add some first; then they can be assigned here.
            </Empty>
          )
        }
      </Loaded>
    </Dialog>
  );
}
