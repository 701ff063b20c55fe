/** A definition to edit, and what it finds on stored pages or on pasted HTML. Nothing is stored. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Badge, Button, Card, CONTROL, Empty, ErrorNote, Field, Loaded, Select, Tabs } from "../../ui/basic";
import { useToast } from "../../ui/dialog";
import { DomainBox } from "../pages/parts";
import { Picker } from "./picker";

type Tried = Schemas["TriedPage"];
const START = `name = "offers"

[match]
domains = []

[record]
kind = "offer"

[fields.name]
css = "h1"
required = true
key = true

[fields.price]
css = ".price"
type = "money"
`;

export function Try({ name }: { name: string | undefined }) {
  const known = useQuery({
    queryKey: ["extractors", "definition", name],
    queryFn: () => ask(api.GET("/api/extractors/{name}/definition", { params: { path: { name: name ?? "" } } })),
    enabled: name !== undefined,
  });
  if (name === undefined) return <Bench start={START} />;
  return <Loaded query={known}>{(data) => <Bench start={data.definition} />}</Loaded>;
}

type On = "stored" | "html";

function Bench({ start }: { start: string }) {
  const [definition, setDefinition] = useState(start);
  const [on, setOn] = useState<On>("stored");
  const [domain, setDomain] = useState<string>();
  const [html, setHtml] = useState("");
  const [url, setUrl] = useState("");
  const isAdmin = useIsAdmin();
  const run = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/extract", {
          body: on === "html" ? { definition, html, url, pages: 1 } : { definition, domain: domain ?? null, pages: 5 },
        }),
      ),
  });
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="Definition">
          <div className="flex flex-col gap-3">
            <textarea
              aria-label="Definition in TOML"
              spellCheck={false}
              value={definition}
              onChange={(event) => setDefinition(event.target.value)}
              rows={22}
              className={`${CONTROL} py-2 font-mono text-xs leading-5`}
            />
            <p className="text-soft">
              To use it, save it as a file in the folder <code>extractors</code> of the data folder.
            </p>
          </div>
        </Card>
        <Card title="Pages">
          <Tabs<On>
            label="What it is tried on"
            value={on}
            onChange={setOn}
            tabs={[
              { key: "stored", text: "Five stored pages" },
              { key: "html", text: "Pasted HTML" },
            ]}
          />
          {on === "stored" ? (
            <DomainBox value={domain} onChange={setDomain} />
          ) : (
            <div className="flex flex-col gap-3">
              <Field label="URL it came from">
                {(given) => <input {...given} value={url} onChange={(event) => setUrl(event.target.value)} />}
              </Field>
              <Field label="HTML">
                {(given) => (
                  <textarea
                    {...given}
                    className={`${given.className} py-2 font-mono text-xs`}
                    rows={8}
                    value={html}
                    onChange={(event) => setHtml(event.target.value)}
                  />
                )}
              </Field>
            </div>
          )}
          <div className="mt-3 flex items-center gap-3">
            <Button
              kind="main"
              isBusy={run.isPending}
              disabled={!isAdmin || (on === "html" && (!html || !url))}
              onClick={() => run.mutate()}
            >
              Try it
            </Button>
            {!isAdmin && <span className="text-soft">An administrator can try it.</span>}
          </div>
        </Card>
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="Records">
          {run.error && <ErrorNote error={run.error} />}
          {run.data ? (
            <div className="flex flex-col gap-4">
              {run.data.pages.map((page) => (
                <PageResult key={page.url} page={page} />
              ))}
            </div>
          ) : (
            !run.error && <Empty title="Nothing was tried yet" />
          )}
        </Card>
        <Elements domain={domain} html={on === "html" ? html : ""} pages={run.data?.pages ?? []} />
      </div>
    </div>
  );
}

function PageResult({ page }: { page: Tried }) {
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h3 className="flex items-center gap-2">
        <Badge tone={page.records.length ? "good" : "plain"}>
          {page.records.length ? `${page.records.length} found` : "none"}
        </Badge>
        <span className="min-w-0 truncate" title={page.url}>
          {page.url}
        </span>
      </h3>
      {page.problems.map((problem) => (
        <p key={problem} className="break-words text-bad">
          {problem}
        </p>
      ))}
      {page.records.slice(0, 5).map((record, index) => (
        <RecordCard key={`${record.key}${index}`} record={record} />
      ))}
      {page.records.length > 5 && <p className="text-soft">and {page.records.length - 5} more</p>}
    </section>
  );
}

function RecordCard({ record }: { record: Schemas["TriedRecord"] }) {
  return (
    <div className="overflow-x-auto rounded-md border border-line">
      <table className="w-full text-xs">
        <tbody>
          {Object.entries(record.fields).map(([name, value]) => (
            <tr key={name} className="border-t border-line align-top first:border-t-0">
              <th className="px-2 py-1.5 text-left font-medium whitespace-nowrap">{name}</th>
              <td className="px-2 py-1.5 break-words">{shown(value)}</td>
              <td className="max-w-[14rem] truncate px-2 py-1.5 text-soft" title={record.evidence[name]}>
                {record.evidence[name]}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {record.problems.length > 0 && (
        <p className="border-t border-line bg-warn-ground px-2 py-1.5 text-xs text-warn">
          {record.problems.join(", ")}
        </p>
      )}
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "object" && !Array.isArray(value)) {
    const money = value as { amount?: string; currency?: string | null };
    if (money.amount !== undefined) return `${money.amount} ${money.currency ?? ""}`.trim();
  }
  return Array.isArray(value)
    ? value.map(shown).join(", ")
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname.slice(0, 40) : url.slice(0, 40));

/** A stored page to click on: the newest, or one that was tried. */
function Elements({ domain, html, pages }: { domain: string | undefined; html: string; pages: Tried[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const stored = pages.filter((page) => page.page_id !== null);
  const page = stored.some((each) => String(each.page_id) === chosen) ? Number(chosen) : undefined;
  const tell = useToast();
  const sample = useQuery({
    queryKey: ["extractors", "sample", domain, page],
    queryFn: () => ask(api.GET("/api/extractors/sample", { params: { query: { domain, page } } })),
    enabled: isOpen && !html,
    retry: false,
  });
  const pick = (selector: string) => {
    navigator.clipboard?.writeText(selector).then(
      () => tell(`Copied: ${selector}`),
      () => tell(selector),
    );
  };
  return (
    <Card
      title="Pick an element"
      action={<Button onClick={() => setIsOpen(!isOpen)}>{isOpen ? "Close" : "Show a page"}</Button>}
    >
      {!isOpen && <p className="text-soft">Click an element of a page to get a selector for it.</p>}
      {isOpen && html && <Picker html={html} onPick={pick} />}
      {isOpen && !html && (
        <Loaded query={sample}>
          {(data) => (
            <div className="flex flex-col gap-2">
              {stored.length > 0 && (
                <Select
                  label="Page"
                  value={chosen}
                  onChange={setChosen}
                  all="the newest"
                  options={stored.map((each): [string, string] => [String(each.page_id), pathOf(each.url)])}
                />
              )}
              <p className="truncate text-soft">{data.url}</p>
              <Picker html={data.html} onPick={pick} />
            </div>
          )}
        </Loaded>
      )}
    </Card>
  );
}
