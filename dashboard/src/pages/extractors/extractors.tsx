/** Extractors: what each finds, how often, and a place to try one on stored pages. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Empty, Loaded, PageHead, Tabs, Time } from "../../ui/basic";
import { Chart } from "../../ui/chart";
import { number, percent } from "../../ui/format";
import { Alert } from "../../ui/icons";
import { coverageLines } from "./coverage";
import { Try } from "./try";

type Row = Schemas["ExtractorRow"];
type Tab = "all" | "coverage" | "try";
const DAYS = 30;

export function Extractors() {
  const [filters, set] = useFilters();
  const tab: Tab = filters.tab === "coverage" || filters.tab === "try" ? filters.tab : "all";
  const found = useQuery({ queryKey: ["extractors"], queryFn: () => ask(api.GET("/api/extractors")) });
  return (
    <>
      <PageHead
        title="Extractors"
        about="Files that say which pages have a record and where its fields are, and what they find."
      />
      <Tabs<Tab>
        label="Views of extractors"
        value={tab}
        onChange={(next) => set({ tab: next === "all" ? undefined : next })}
        tabs={[
          { key: "all", text: "Extractors", count: found.data?.items.length },
          { key: "coverage", text: "Coverage" },
          { key: "try", text: "Try one" },
        ]}
      />
      {tab === "all" && (
        <Loaded query={found} lines={6}>
          {(data) => <All rows={data.items} bad={data.bad_files} />}
        </Loaded>
      )}
      {tab === "coverage" && <Coverage names={(found.data?.items ?? []).map((row) => row.name)} />}
      {tab === "try" && <Try key={filters.name ?? ""} name={filters.name} />}
    </>
  );
}

function All({ rows, bad }: { rows: Row[]; bad: Schemas["BadExtractorFile"][] }) {
  const [, set] = useFilters();
  return (
    <div className="flex flex-col gap-4">
      {bad.map((file) => (
        <p
          key={file.file}
          className="flex items-start gap-2 rounded-lg border border-line bg-bad-ground px-4 py-2.5 text-bad"
        >
          <Alert className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">{file.problem} The file is not used.</span>
        </p>
      ))}
      {!rows.length && !bad.length && (
        <Empty
          title="No extractor yet"
          action={
            <Button kind="main" onClick={() => set({ tab: "try" })}>
              Write one
            </Button>
          }
        >
          Files in the folder <code>extractors</code> of the data folder say where the fields of your own records are.
        </Empty>
      )}
      {rows.map((row) => (
        <Card key={row.name} pad={false}>
          <div className="flex flex-wrap items-start justify-between gap-3 p-4">
            <div className="min-w-0">
              <h2 className="flex flex-wrap items-center gap-2 font-semibold">
                {row.name} {row.kind && <Badge>{row.kind}</Badge>}
                {row.failed > 0 && <Badge tone="bad">failed on {number(row.failed)} pages</Badge>}
                {!row.file && <Badge tone="warn">no file</Badge>}
              </h2>
              <p className="mt-1 break-words text-soft">{row.description || row.fields.join(", ")}</p>
              {row.last_error && <p className="mt-1 break-words text-bad">{row.last_error}</p>}
              {row.model && <AsksModel model={row.model} />}
            </div>
            <div className="flex gap-2">
              <Button onClick={() => set({ tab: "coverage", name: row.name })}>Coverage</Button>
              {row.file && !row.model && <Button onClick={() => set({ tab: "try", name: row.name })}>Try</Button>}
            </div>
          </div>
          <dl className="grid grid-cols-2 gap-x-4 gap-y-1 border-t border-line px-4 py-3 sm:grid-cols-5">
            <Figure name="Records">{number(row.records)}</Figure>
            <Figure name="Complete">{row.records ? percent(row.complete / row.records) : "–"}</Figure>
            <Figure name="Gone">{number(row.gone)}</Figure>
            <Figure name="Domains">{number(row.domains)}</Figure>
            <Figure name="Last seen">{row.last_seen_at ? <Time at={row.last_seen_at} /> : "never"}</Figure>
          </dl>
        </Card>
      ))}
    </div>
  );
}

const Figure = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className="tabular-nums">{children}</dd>
  </div>
);

function Coverage({ names }: { names: string[] }) {
  const [filters, set] = useFilters();
  const name = filters.name ?? names[0];
  const query = useQuery({
    queryKey: ["extractors", "coverage", name],
    queryFn: () =>
      ask(api.GET("/api/extractors/coverage", { params: { query: { extractor: name, days: DAYS, limit: 1000 } } })),
    enabled: name !== undefined,
  });
  if (name === undefined) return <Empty title="No extractor ran yet" />;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        {names.map((each) => (
          <Button key={each} kind={each === name ? "main" : "plain"} onClick={() => set({ name: each })}>
            {each}
          </Button>
        ))}
      </div>
      <Loaded query={query} lines={6}>
        {(data) => <CoverageOf rows={data.items} />}
      </Loaded>
    </div>
  );
}

function CoverageOf({ rows }: { rows: Schemas["FieldCoverage"][] }) {
  const { at, lines, fields } = useMemo(() => coverageLines(rows), [rows]);
  if (!rows.length) return <Empty title="It found nothing in the last thirty days" />;
  return (
    <>
      {at.length > 1 && (
        <Card title="Share of records in which each field was found">
          <Chart at={at} lines={lines} format={percent} label="Coverage of fields over time" />
        </Card>
      )}
      <Card pad={false} title="By field" className="overflow-x-auto">
        <table className="w-full">
          <thead>
            <tr className="text-left text-xs text-soft">
              <th className="px-4 py-2">Field</th>
              <th className="px-4 py-2 text-right">Found</th>
              <th className="px-4 py-2 text-right">Valid</th>
              <th className="px-4 py-2 text-right">Missing</th>
              <th className="px-4 py-2 text-right">Coverage</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.name} className="border-t border-line tabular-nums">
                <td className="px-4 py-2">{field.name || <span className="text-soft">whole records</span>}</td>
                <td className="px-4 py-2 text-right">{number(field.found)}</td>
                <td className="px-4 py-2 text-right">{number(field.valid)}</td>
                <td className="px-4 py-2 text-right">{number(field.missing)}</td>
                <td className="px-4 py-2 text-right">{field.rate === null ? "–" : percent(field.rate)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
    </>
  );
}

/** How far an extractor is that asks a model. */
function AsksModel({ model }: { model: Schemas["ModelProgress"] }) {
  if (!model.is_configured) return <p className="mt-1 text-soft">Asks a model: off, because model.url is not set.</p>;
  return (
    <>
      <p className="mt-1 text-soft">
        Asks a model: {number(model.waiting)} pages waiting, {number(model.done)} read, {number(model.failed)} given up;{" "}
        {number(model.calls_today)} of {number(model.max_calls_per_day)} calls today.
      </p>
      {model.last_error && <p className="mt-1 break-words text-bad">{model.last_error}</p>}
    </>
  );
}
