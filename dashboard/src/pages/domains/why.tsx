/** Why a domain, or a page of it, is or is not fetched now: gate by gate, as `forager why` prints it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Badge, Button, Card, Field, Loaded, Time } from "../../ui/basic";
import { words } from "../../ui/format";
import { Check, Cross, Question } from "../../ui/icons";

type Gate = Schemas["Gate"];

export const useWhy = (of: string, isAsked = true) =>
  useQuery({ queryKey: ["why", of], queryFn: () => ask(api.GET("/api/why", { params: { query: { of } } })), refetchInterval: 5_000, enabled: isAsked });

export function WhyGates({ name }: { name: string }) {
  const [filters, setFilters] = useFilters();
  const asked = filters.of ?? name;
  const why = useWhy(asked);
  return (
    <div className="flex flex-col gap-4">
      <AskBox value={filters.of ?? ""} onAsk={(of) => setFilters({ of })} name={name} />
      <Loaded query={why} lines={12}>
        {(data) => (
          <>
            <Answer why={data} />
            <div className={`grid gap-4 ${data.page_gates.length ? "xl:grid-cols-2" : ""}`}>
              {data.page_gates.length > 0 && <Card title="The page" pad={false}><Gates of={data.page_gates} /></Card>}
              <Card title={`The domain ${data.domain}`} pad={false}><Gates of={data.domain_gates} /></Card>
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

function AskBox({ value, onAsk, name }: { value: string; onAsk: (of: string | undefined) => void; name: string }) {
  const [text, setText] = useState(value);
  return (
    <form className="flex flex-wrap items-end gap-2" onSubmit={(event) => { event.preventDefault(); onAsk(text.trim() || undefined); }}>
      <div className="w-full min-w-0 sm:w-auto sm:flex-1">
        <Field label="Ask about a page" hint={`Empty: about the domain ${name}.`}>{(given) => <input {...given} value={text} onChange={(event) => setText(event.target.value)} maxLength={8192} placeholder={`https://${name}/…`} />}</Field>
      </div>
      <Button type="submit" className="sm:mb-5"><Question /> Ask why</Button>
    </form>
  );
}

export function Answer({ why }: { why: Schemas["Why"] }) {
  const [tone, text] = why.answer === "now" ? (["good", "now"] as const) : why.answer === "at" ? (["info", "later"] as const) : (["bad", "not at all"] as const);
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">Fetched</span> <Badge tone={tone}>{text}</Badge>
        {why.next_fetch_at && <Time at={why.next_fetch_at} />}
        <span className="min-w-0 break-words text-soft">because: {why.because}</span>
      </p>
      {why.url && <p className="mt-1 text-xs break-all text-soft">{why.url}</p>}
      {why.remedy && <Remedy text={why.remedy} />}
    </div>
  );
}

const Remedy = ({ text }: { text: string }) => <p className="mt-1 text-xs text-soft">What helps: <code className="rounded bg-raised px-1.5 py-0.5 font-mono break-all text-ink">{text}</code></p>;

const SHOWN = {
  open: { Icon: Check, tone: "text-good", says: "open" },
  shut: { Icon: Cross, tone: "text-bad", says: "shut" },
  fact: { Icon: Question, tone: "text-soft", says: "to know" },
};

function Gates({ of }: { of: Gate[] }) {
  return (
    <ol className="divide-y divide-line">
      {of.map((gate) => {
        const { Icon, tone, says } = SHOWN[gate.is_open === null ? "fact" : gate.is_open ? "open" : "shut"];
        return (
          <li key={gate.name} className={`grid grid-cols-[1.25rem_5.5rem_1fr] items-start gap-x-3 px-4 py-2 ${gate.is_open === false ? "bg-bad-ground" : ""}`}>
            <span className={`mt-0.5 ${tone}`} title={says}><Icon /><span className="sr-only">{says}</span></span>
            <span className="font-medium">{words(gate.name)}</span>
            <span className="min-w-0 break-words">
              {gate.sentence}
              {gate.opens_at && <span className={gate.is_open === false ? "text-ink" : "text-soft"}> (opens <Time at={gate.opens_at} />)</span>}
              {gate.remedy && <Remedy text={gate.remedy} />}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
