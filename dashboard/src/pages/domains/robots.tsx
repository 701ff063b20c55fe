/** The robots.txt of each origin: the lines that speak to us, and the one that decides about a URL. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, Field, Loaded, Time, WebLink } from "../../ui/basic";
import { number } from "../../ui/format";
import { useWhy } from "../why/why";
import type { Domain } from "./domain";
import { lineNamed, linesOf, urlOf } from "./robots_lines";

type RobotsFile = Schemas["Robots"];

export function Robots({ domain }: { domain: Domain }) {
  const [filters, setFilters] = useFilters();
  const files = useQuery({
    queryKey: ["domain", domain.name, "robots"],
    queryFn: () => ask(api.GET("/api/domains/{domain}/robots", { params: { path: { domain: domain.name } } })),
    refetchInterval: 30_000,
  });
  const agent = useAgent();
  const url = filters.url ? urlOf(filters.url, domain.base_url) : undefined;
  return (
    <div className="flex flex-col gap-4">
      <Card title="Would this URL be allowed?">
        <Allowed url={url} typed={filters.url ?? ""} onAsk={(typed) => setFilters({ url: typed })} />
      </Card>
      <Loaded query={files} lines={12}>
        {(data) =>
          data.items.length ? (
            data.items.map((file) => <File key={file.origin} file={file} agent={agent} url={url} />)
          ) : (
            <Card>
              <Empty title="robots.txt was not read yet">
                It is read before the first visit, and again when it is no longer fresh.
              </Empty>
            </Card>
          )
        }
      </Loaded>
    </div>
  );
}

/** The name robots.txt rules are matched with. */
function useAgent(): string {
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: () => ask(api.GET("/api/settings")),
    staleTime: 300_000,
  });
  return String(settings.data?.items.find((setting) => setting.name === "robots_agent")?.value ?? "Forager");
}

const useRobotsGate = (url: string | undefined) => {
  const why = useWhy(url ?? "", Boolean(url));
  return { why, gate: why.data?.page_checks.find((gate) => gate.name === "robots") };
};

function Allowed({
  url,
  typed,
  onAsk,
}: {
  url: string | undefined;
  typed: string;
  onAsk: (typed: string | undefined) => void;
}) {
  const [text, setText] = useState(typed);
  const { why, gate } = useRobotsGate(url);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(text.trim() || undefined);
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field label="A path or a whole URL">
            {(given) => (
              <input
                {...given}
                value={text}
                onChange={(event) => setText(event.target.value)}
                maxLength={8000}
                placeholder="/private/page.html"
              />
            )}
          </Field>
        </div>
        <Button type="submit">Ask</Button>
      </div>
      <p className="min-h-6" role="status">
        {!url ? (
          <span className="text-soft">The line that decides is marked below.</span>
        ) : why.isError ? (
          <span className="text-bad">{why.error.message}</span>
        ) : !why.data ? (
          <span className="text-soft">Asking…</span>
        ) : !gate ? (
          <span className="text-soft">{why.data.because}</span>
        ) : (
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={gate.is_open === false ? "bad" : "good"}>
              {gate.is_open === false ? "not allowed" : "allowed"}
            </Badge>{" "}
            <span className="min-w-0 break-words">{gate.sentence}</span>
          </span>
        )}
      </p>
    </form>
  );
}

function File({ file, agent, url }: { file: RobotsFile; agent: string; url: string | undefined }) {
  const lines = useMemo(
    () => (file.robots_txt === null ? [] : linesOf(file.robots_txt, agent)),
    [file.robots_txt, agent],
  );
  const { gate } = useRobotsGate(url);
  const decides = url && originOf(url) === file.origin ? lineNamed(gate?.sentence) : undefined;
  const ours = lines.filter((line) => line.isOurs).length;
  return (
    <Card
      title={<WebLink url={`${file.origin}/robots.txt`} />}
      pad={false}
      action={
        <span className="flex flex-wrap items-center gap-2 text-xs text-soft">
          <Answered file={file} />{" "}
          <span>
            read <Time at={file.robots_fetched_at} />, {file.is_fresh ? "goes stale" : "stale since"}{" "}
            <Time at={file.robots_expires_at} />
          </span>
        </span>
      }
    >
      {file.robots_txt ? (
        <>
          <p className="border-b border-line px-4 py-2 text-xs text-soft">
            {ours ? (
              <>
                <span className="mr-1 inline-block size-2.5 rounded-sm bg-info" aria-hidden="true" />
                {number(ours)} of {number(lines.length)} lines speak to {agent}.
              </>
            ) : (
              `No line speaks to ${agent}: all is allowed.`
            )}
            {decides !== undefined && (
              <>
                {" "}
                <span className="mr-1 ml-2 inline-block size-2.5 rounded-sm bg-warn" aria-hidden="true" />
                Line {decides} decides.
              </>
            )}
          </p>
          <ol
            className="max-h-[36rem] overflow-auto py-2 font-mono text-xs"
            tabIndex={0}
            aria-label={`Lines of ${file.origin}/robots.txt`}
          >
            {lines.map((line) => (
              <li
                key={line.number}
                aria-current={line.number === decides || undefined}
                className={`grid grid-cols-[3.5rem_1fr] border-l-4 py-0.5 ${line.number === decides ? "border-warn bg-warn-ground font-semibold text-warn" : line.isOurs ? "border-info bg-info-ground" : "border-transparent"}`}
              >
                <span className="pr-3 text-right text-soft select-none" aria-hidden="true">
                  {line.number}
                </span>
                <span
                  className={`min-w-0 pr-3 break-all whitespace-pre-wrap ${line.isOurs || line.number === decides ? "" : "text-soft"}`}
                >
                  {line.text || " "}
                </span>
              </li>
            ))}
          </ol>
        </>
      ) : (
        <p className="p-4 text-soft">
          {file.robots_error ??
            (file.robots_status_code && file.robots_status_code >= 500
              ? "Its server failed, so nothing may be fetched until it answers."
              : "It has none, so all is allowed.")}
        </p>
      )}
      {file.sitemaps.length > 0 && (
        <div className="border-t border-line px-4 py-3">
          <h3 className="mb-1 font-medium">Sitemaps</h3>
          <ul className="flex flex-col gap-1">
            {file.sitemaps.map((sitemap) => (
              <li key={sitemap}>
                <WebLink url={sitemap} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}

const Answered = ({ file }: { file: RobotsFile }) => (
  <Badge tone={file.robots_error || (file.robots_status_code ?? 0) >= 500 ? "bad" : "plain"}>
    {file.robots_status_code ?? "no answer"}
  </Badge>
);

function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}
