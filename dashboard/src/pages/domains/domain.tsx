/** One domain: how it is and why, everything known about it, and every verb. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { useFilters } from "../../ui/address";
import { Badge, Button, Empty, Loaded, PageHead, State, Tabs, Time, WebLink } from "../../ui/basic";
import { useConfirm } from "../../ui/dialog";
import { Again, Cross, Gauge, Pause, Play } from "../../ui/icons";
import { Origin } from "../crawl_settings/form";
import { WhyOfDomain } from "../why/asking";
import { useWhy } from "../why/why";
import { DomainOverview } from "./overview";
import { DomainErrors, DomainHistory, Visits } from "./past";
import { Pool } from "./pool";
import { SiteReport } from "./report";
import { Robots } from "./robots";
import { DomainSettings, useDomainSettings } from "./settings_form";
import { Traps } from "./traps";
import { BlockDialog, orderOne, ResetDialog, useDeed } from "./verbs";

export type Domain = Schemas["Domain"];

const TABS = [
  { key: "overview", text: "Overview" },
  { key: "why", text: "Why" },
  { key: "visits", text: "Visits" },
  { key: "errors", text: "Errors" },
  { key: "report", text: "Report" },
  { key: "robots", text: "robots.txt" },
  { key: "traps", text: "Traps" },
  { key: "proxies", text: "Proxies" },
  { key: "history", text: "History" },
  { key: "settings", text: "Settings" },
] as const;

export function DomainPage() {
  const { domain: name = "" } = useParams({ strict: false }) as { domain?: string };
  const [filters, setFilters] = useFilters();
  const domain = useQuery({
    queryKey: ["domain", name],
    queryFn: () => ask(api.GET("/api/domains/{domain}", { params: { path: { domain: name } } })),
    refetchInterval: 3_000,
  });
  const tab = TABS.find((known) => known.key === filters.tab)?.key ?? "overview";
  if (domain.error instanceof ApiError && domain.error.status === 404) {
    return (
      <>
        <PageHead title={name} />
        <Empty
          title="This domain is not known"
          action={
            <Link to="/domains" className="text-brand hover:underline">
              To all domains
            </Link>
          }
        >
          No seed and no link led to it yet. The name may be misspelled.
        </Empty>
      </>
    );
  }
  return (
    <Loaded query={domain} lines={10}>
      {(data) => (
        <>
          <Head domain={data} />
          <Tabs
            label={`Views of ${data.name}`}
            value={tab}
            onChange={(key) => setFilters({ tab: key === "overview" ? undefined : key })}
            tabs={TABS}
          />
          {tab === "overview" && <DomainOverview domain={data} />}
          {tab === "why" && <WhyOfDomain name={data.name} />}
          {tab === "visits" && <Visits name={data.name} />}
          {tab === "errors" && <DomainErrors domain={data} />}
          {tab === "report" && <SiteReport name={data.name} />}
          {tab === "robots" && <Robots domain={data} />}
          {tab === "traps" && <Traps name={data.name} />}
          {tab === "proxies" && <Pool name={data.name} />}
          {tab === "history" && <DomainHistory name={data.name} />}
          {tab === "settings" && <DomainSettings name={data.name} />}
        </>
      )}
    </Loaded>
  );
}

function Head({ domain }: { domain: Domain }) {
  const isAdmin = useIsAdmin();
  const profile = useDomainSettings(domain.name).data?.profile;
  return (
    <>
      <PageHead title={domain.name} about={<WebLink url={domain.base_url} />}>
        {isAdmin && <DomainVerbs domain={domain} />}
      </PageHead>
      <div className="mb-4 flex min-h-11 flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-4 py-2.5">
        <State of={domain.status} />
        {!domain.is_active && <Badge tone="warn">paused</Badge>}
        {domain.is_leased && <Badge tone="info">worker {domain.claimed_by} crawls it now</Badge>}
        {domain.breaker_state !== "closed" && (
          <Badge tone="bad">breaker {domain.breaker_state.replace("_", " ")}</Badge>
        )}
        {profile && <Origin of={`profile ${profile}`} />}
        <Because name={domain.name} />
      </div>
    </>
  );
}

/** Why it is as it is, in one sentence. */
function Because({ name }: { name: string }) {
  const why = useWhy(name);
  if (!why.data) return <span className="text-soft">…</span>;
  const { answer, because, next_fetch_at } = why.data;
  return (
    <span className="min-w-0 break-words">
      {answer === "now" ? (
        "May be fetched now"
      ) : answer === "at" ? (
        <>
          Next fetch <Time at={next_fetch_at} empty="later" />
        </>
      ) : (
        "No fetch is planned"
      )}
      <span className="text-soft">: {because}</span>
    </span>
  );
}

function DomainVerbs({ domain }: { domain: Domain }) {
  const [open, setOpen] = useState<"reset" | "block" | null>(null);
  const { act, isBusy } = useDeed();
  const confirm = useConfirm();
  const name = domain.name;
  const pause = async () => {
    const yes = await confirm({
      title: `Pause ${name}?`,
      text: "No visits until somebody resumes it. What is under way is finished.",
      verb: "Pause the domain",
      reason: "Why (kept in its history)",
    });
    if (yes)
      await act(
        () => orderOne("pause", name, yes.reason),
        () => `${name} is paused.`,
      );
  };
  const resetBreaker = async () => {
    const yes = await confirm({
      title: `Close the breaker of ${name}?`,
      text: "Requests may leave again at their pace. If its server still fails, the breaker opens again.",
      verb: "Close the breaker",
      reason: "Why (kept in its history)",
    });
    if (yes)
      await act(
        () =>
          ask(
            api.POST("/api/admin/domains/{domain}/reset-breaker", {
              params: { path: { domain: name } },
              body: { reason: yes.reason || null },
            }),
          ),
        (answer) => `The breaker of ${name} was ${answer.was.replace("_", " ")} and is closed.`,
      );
  };
  return (
    <>
      {domain.is_active ? (
        <Button isBusy={isBusy} onClick={() => void pause()}>
          <Pause /> Pause
        </Button>
      ) : (
        <Button
          kind="main"
          isBusy={isBusy}
          onClick={() =>
            void act(
              () => orderOne("resume", name),
              () => `${name} goes on.`,
            )
          }
        >
          <Play /> Resume
        </Button>
      )}
      <Button onClick={() => setOpen("reset")}>
        <Again /> Reset
      </Button>
      {(domain.breaker_state !== "closed" || domain.breaker_failures > 0) && (
        <Button onClick={() => void resetBreaker()}>Close breaker</Button>
      )}
      <Button
        isBusy={isBusy}
        title="Compute now how soon it is crawled among the others"
        onClick={() =>
          void act(
            () => orderOne("rescore", name),
            (message) => `${name}: ${message}`,
          )
        }
      >
        <Gauge /> Re-score
      </Button>
      <Button onClick={() => setOpen("block")}>
        <Cross /> Block
      </Button>
      {open === "reset" && (
        <ResetDialog domain={name} gone={domain.page_states.gone ?? 0} onClose={() => setOpen(null)} />
      )}
      {open === "block" && <BlockDialog domain={name} onClose={() => setOpen(null)} />}
    </>
  );
}
