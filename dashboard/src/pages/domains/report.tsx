/** What the owner of a site would want to repair: findings with examples, and the whole report to download. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { Badge, Card, Empty, Loaded, WebLink } from "../../ui/basic";
import { number } from "../../ui/format";

type Finding = Schemas["ReportFinding"];
const TONES = { error: "bad", warning: "warn", notice: "info" } as const;
const EXAMPLES = 5;

export function SiteReport({ name }: { name: string }) {
  const report = useQuery({
    queryKey: ["domain", name, "report"],
    queryFn: () =>
      ask(
        api.GET("/api/domains/{domain}/report", {
          params: { path: { domain: name }, query: { examples: EXAMPLES } },
        }),
      ),
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  });
  const base = `/api/domains/${encodeURIComponent(name)}/report`;
  return (
    <Loaded query={report} lines={10}>
      {(data) => {
        const found = data.findings.filter((finding) => finding.total > 0);
        return (
          <div className="grid gap-4">
            <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-soft">
              <span>
                {number(data.pages)} pages known, {number(data.visited)} visited
              </span>
              <Download href={`${base}.html`}>Report as HTML</Download>
              <Download href={`${base}.csv`}>All findings as CSV</Download>
            </p>
            {found.length ? (
              found.map((finding) => <FindingCard key={finding.name} finding={finding} base={base} />)
            ) : (
              <Card>
                <Empty title="Nothing was found that needs repair">Every check passed.</Empty>
              </Card>
            )}
            {data.notes.map((note) => (
              <p key={note} className="text-sm text-soft">
                {note}
              </p>
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

function FindingCard({ finding, base }: { finding: Finding; base: string }) {
  const more = finding.total - finding.examples.length;
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          <Badge tone={TONES[finding.severity]}>{finding.severity}</Badge> {finding.title}: {number(finding.total)}
        </span>
      }
      action={<Download href={`${base}.csv?finding=${finding.name}`}>CSV</Download>}
    >
      <p className="mb-2 text-sm text-soft">{finding.advice}</p>
      <ul className="grid gap-2 text-sm">
        {finding.examples.map((example) => (
          <li key={example.url} className="min-w-0 break-words">
            <WebLink url={example.url} /> {example.value && <span className="text-soft">{example.value}</span>}
            {example.others.length > 0 && (
              <ul className="ml-4 text-soft">
                {example.others.map((other) => (
                  <li key={other}>
                    {finding.others} <WebLink url={other} />
                  </li>
                ))}
                {example.others_total > example.others.length && (
                  <li>and {number(example.others_total - example.others.length)} more</li>
                )}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {more > 0 && <p className="mt-2 text-sm text-soft">and {number(more)} more</p>}
    </Card>
  );
}

function Download({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} download className="text-brand hover:underline">
      {children}
    </a>
  );
}
