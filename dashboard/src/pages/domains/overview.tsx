/** A domain in numbers: how far it is, its pace and budget, what it is worth, when it is next. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { api, ask } from "../../api/client";
import { Card, Facts, Loaded, Stat, State, Time } from "../../ui/basic";
import { Chart, Shares } from "../../ui/chart";
import { bytes, duration, number, percent, rate, short, words } from "../../ui/format";
import { shortOf } from "../crawl_settings/values";
import { courseOf, daysOf } from "./course";
import type { Domain } from "./domain";
import { useDomainSettings } from "./settings_form";
import { count } from "./turns";

export function DomainOverview({ domain }: { domain: Domain }) {
  const { changes } = domain;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-3 xl:grid-cols-6">
        <Stat
          name="Good visits"
          value={short(domain.pages_crawled)}
          about={`${short(domain.pages_discovered)} pages known`}
        />
        <Stat
          name="Waiting"
          value={short(domain.frontier_size)}
          about={`${count(domain.depth_reached, "link")} deep`}
        />
        <Stat
          name="Errors"
          value={short(domain.total_error_count)}
          about={
            domain.consecutive_error_count
              ? `${number(domain.consecutive_error_count)} in a row`
              : `${percent(domain.error_rate)} of visits`
          }
          tone={domain.error_rate >= 0.1 ? "bad" : undefined}
        />
        <Stat
          name="Images stored"
          value={short(domain.images_stored)}
          about={`of ${short(domain.images_found)} found`}
        />
        <Stat
          name="Changes found"
          value={changes.comparisons ? percent(changes.changes / changes.comparisons) : "–"}
          about={
            changes.comparisons
              ? `${number(changes.changes)} of ${number(changes.comparisons)} seen again`
              : "none seen twice yet"
          }
        />
        <Stat
          name="Score"
          value={number(domain.priority_score)}
          about={
            <>
              computed <Time at={domain.priority_computed_at} empty="never" />
            </>
          }
        />
      </div>
      <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
        <Card title="When">
          <WhenFacts domain={domain} />
        </Card>
        <Card title="Pace and budget">
          <PaceFacts domain={domain} />
        </Card>
        <Card title="Policy">
          <PolicyFacts domain={domain} />
        </Card>
      </div>
      <Courses name={domain.name} />
      <Days name={domain.name} />
      <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
        <Card title="Pages by state">
          <Shares of={domain.page_states} tones={pageTone} format={short} />
        </Card>
        <Card title="How visits ended">
          <Shares of={sumOutcomes(domain)} tones={outcomeTone} format={short} />
        </Card>
        <Card title="What the score is made of">
          <ScoreTerms terms={domain.score_terms} />
        </Card>
      </div>
    </div>
  );
}

const orDefault = (value: ReactNode) =>
  value === null || value === undefined ? <span className="text-soft">default</span> : value;

/** Name → effective value in a short form; none where a setting has no value. */
function useSettingValues(name: string): Record<string, string | undefined> {
  const settings = useDomainSettings(name).data?.settings ?? [];
  return Object.fromEntries(settings.flatMap(({ name, value }) => (value === null ? [] : [[name, shortOf(value)]])));
}

function WhenFacts({ domain }: { domain: Domain }) {
  const { revisits } = domain;
  const { window, timezone } = useSettingValues(domain.name);
  return (
    <Facts
      of={[
        [
          "First seen",
          <>
            <Time at={domain.first_seen_at} /> <span className="text-soft">by {domain.source}</span>
          </>,
        ],
        ["Last visit", <Time at={domain.last_crawled_at} empty="never" />],
        ...(domain.due_at ? [["Due", <Time at={domain.due_at} />] as [ReactNode, ReactNode]] : []),
        ["Next crawl", <Time at={domain.next_crawl_after} empty="in its turn" />],
        [
          "Visited again",
          revisits.pages ? (
            <>
              {count(revisits.pages, "page")}, first <Time at={revisits.next_at} />
            </>
          ) : (
            "no page is planned"
          ),
        ],
        [
          "Frequency",
          domain.revisit_every_s ? (
            <>
              every {duration(domain.revisit_every_s)}
              {domain.is_adaptive ? ", adapting" : ""}
            </>
          ) : domain.is_adaptive ? (
            "as often as pages change"
          ) : (
            "once"
          ),
        ],
        ["Rest when done", orDefault(domain.refresh_every_s === null ? null : duration(domain.refresh_every_s))],
        ["Closed hours", window ? `${window} ${timezone}` : "none"],
        ...(domain.first_blocked_at
          ? [
              [
                "First blocked",
                <>
                  <Time at={domain.first_blocked_at} />{" "}
                  <span className="text-soft">came back {number(domain.blocked_returns)} times</span>
                </>,
              ] as [ReactNode, ReactNode],
            ]
          : []),
      ]}
    />
  );
}

function PaceFacts({ domain }: { domain: Domain }) {
  const period = useSettingValues(domain.name).max_pages_per ?? "run";
  return (
    <Facts
      of={[
        [
          "Between requests",
          <>
            {duration(domain.pace_delay_s)}
            {domain.pace_extra_s > 0 && (
              <span className={domain.pace_extra_s >= 1 ? "text-warn" : "text-soft"}>
                {" "}
                + {duration(domain.pace_extra_s)}, as its server slowed down
              </span>
            )}{" "}
            <span className="text-soft">{domain.crawl_delay_s === null ? "(default or robots.txt)" : "(set)"}</span>
          </>,
        ],
        ["Answers in", duration(domain.response_s)],
        ["Requests at once", orDefault(domain.max_concurrent_requests)],
        [
          "Next request",
          domain.next_allowed_at && Date.parse(domain.next_allowed_at) > Date.now() ? (
            <Time at={domain.next_allowed_at} />
          ) : (
            "whenever its turn comes"
          ),
        ],
        [
          "Breaker",
          <>
            <State of={domain.breaker_state} /> {count(domain.breaker_failures, "failure")} in a row
            {domain.breaker_opened_at && (
              <>
                , opened <Time at={domain.breaker_opened_at} />
              </>
            )}
          </>,
        ],
        [
          "Error streak",
          domain.consecutive_error_count
            ? `${number(domain.consecutive_error_count)} × ${words(domain.error_streak_code)}`
            : "none",
        ],
        [
          "Lease",
          domain.is_leased ? (
            <>
              worker {domain.claimed_by}, until <Time at={domain.claim_expires_at} />{" "}
              <span className="text-soft">version {number(domain.version)}</span>
            </>
          ) : (
            <>
              nobody <span className="text-soft">version {number(domain.version)}</span>
            </>
          ),
        ],
        [
          "Page budget",
          domain.max_pages_per_run === null
            ? "no limit"
            : period === "run"
              ? `${number(domain.run_pages)} of ${number(domain.max_pages_per_run)} used in this run`
              : `${number(domain.max_pages_per_run)} new pages a ${period}`,
        ],
        [
          "Run",
          domain.run_id === null ? (
            "none"
          ) : (
            <>
              <Link
                to="/runs/$run"
                params={{ run: String(domain.run_id) } as never}
                className="text-brand hover:underline"
              >
                run {domain.run_id}
              </Link>
              , round {number(domain.round)}
            </>
          ),
        ],
      ]}
    />
  );
}

function PolicyFacts({ domain }: { domain: Domain }) {
  return (
    <Facts
      of={[
        ["Bodies", orDefault(domain.content_policy)],
        ["Images", orDefault(domain.images_policy)],
        ["Only images", domain.images_only ? "yes" : "no"],
        ["Links kept", domain.stores_links ? "yes" : "no"],
        ["Scripts run", orDefault(domain.rendering)],
        ["Certificates", domain.verifies_tls ? "checked" : <span className="text-warn">not checked</span>],
        ["Product parser", domain.parser_name],
        [
          "Part of",
          <Link to="/domains" search={{ parent: domain.parent_domain } as never} className="text-brand hover:underline">
            {domain.parent_domain}
          </Link>,
        ],
        [
          "Look at",
          <span className="flex flex-wrap gap-x-3">
            {(["/pages", "/tasks", "/products", "/images"] as const).map((to) => (
              <Link key={to} to={to} search={{ domain: domain.name } as never} className="text-brand hover:underline">
                {to.slice(1)}
              </Link>
            ))}
          </span>,
        ],
      ]}
    />
  );
}

const SHOWN_VISITS = 300;

/** Day by day, as far back as is known; the first day alone says nothing that is not said above. */
function Days({ name }: { name: string }) {
  const days = useQuery({
    queryKey: ["domain", name, "days"],
    queryFn: () =>
      ask(api.GET("/api/domains/{domain}/days", { params: { path: { domain: name }, query: { limit: 90 } } })),
    refetchInterval: 60_000,
  });
  const course = useMemo(() => daysOf(days.data?.items ?? []), [days.data]);
  if (course.visits.at.length < 2) return null;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title="Visits each day">
        <Chart
          kind="heaps"
          at={course.visits.at}
          lines={course.visits.lines}
          format={short}
          label={`Visits to ${name} each day, good and failed`}
        />
      </Card>
      <Card title="Received each day">
        <Chart
          kind="heaps"
          at={course.bytes.at}
          lines={course.bytes.lines}
          format={bytes}
          label={`Bytes received from ${name} each day`}
        />
      </Card>
    </div>
  );
}

/** Right now, from its last visits: days are counted every quarter of an hour only. */
function Courses({ name }: { name: string }) {
  const tasks = useQuery({
    queryKey: ["domain", name, "course"],
    queryFn: () =>
      ask(api.GET("/api/tasks", { params: { query: { domain: name, is_open: false, limit: SHOWN_VISITS } } })),
    refetchInterval: 10_000,
  });
  const course = useMemo(() => courseOf(tasks.data?.items ?? []), [tasks.data]);
  const quiet = <p className="flex h-[180px] items-center justify-center text-soft">Too few visits for a line.</p>;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={`How fast it answered, last ${number(tasks.data?.items.length ?? 0)} visits`}>
        <Loaded query={tasks} lines={5}>
          {() =>
            course.speed.at.length > 1 ? (
              <Chart
                at={course.speed.at}
                lines={course.speed.lines}
                format={(value) => duration(value)}
                label={`Response time of the last visits to ${name}`}
              />
            ) : (
              quiet
            )
          }
        </Loaded>
      </Card>
      <Card title="Visits each minute">
        <Loaded query={tasks} lines={5}>
          {() =>
            course.visits.at.length > 1 ? (
              <Chart
                kind="heaps"
                at={course.visits.at}
                lines={course.visits.lines}
                format={short}
                label={`Visits to ${name} each minute, by outcome`}
              />
            ) : (
              quiet
            )
          }
        </Loaded>
      </Card>
    </div>
  );
}

function ScoreTerms({ terms }: { terms: Record<string, number> }) {
  const entries = Object.entries(terms)
    .filter(([, value]) => Math.abs(value) >= 0.05)
    .sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
  const most = Math.max(...entries.map(([, value]) => Math.abs(value)), 1);
  if (!entries.length) return <p className="text-soft">Nothing speaks for it or against it.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {entries.map(([name, value]) => (
        <li key={name} className="grid grid-cols-[7rem_1fr_4.5rem] items-center gap-3">
          <span>{words(name)}</span>
          <span className="h-2 overflow-hidden rounded-full bg-raised" aria-hidden="true">
            <span
              className={`block h-full rounded-full ${value < 0 ? "bg-bad" : "bg-good"}`}
              style={{ width: `${(Math.abs(value) / most) * 100}%` }}
            />
          </span>
          <span className="text-right tabular-nums">
            {value > 0 ? "+" : "−"}
            {rate(Math.abs(value))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function sumOutcomes(domain: Domain): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { outcome, tasks } of domain.outcomes) {
    const name = outcome.replace("blocked_", "");
    sums[name] = (sums[name] ?? 0) + tasks;
  }
  return sums;
}

const pageTone = (name: string) =>
  name === "fetched"
    ? "bg-good"
    : name === "discovered" || name === "queued"
      ? "bg-info"
      : name === "gone"
        ? "bg-soft"
        : name === "blocked"
          ? "bg-warn"
          : "bg-bad";
const outcomeTone = (name: string) =>
  name === "success"
    ? "bg-good"
    : name === "robots" || name === "cancelled"
      ? "bg-soft"
      : name === "timeout" || name === "4xx"
        ? "bg-warn"
        : "bg-bad";
