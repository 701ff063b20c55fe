/** Why a page is, or is not, being fetched now: every gate it has to pass, and what would open it. */
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "../../api/client";
import { Button, Card, Loaded, Time } from "../../ui/basic";
import { Again, Check, Clock, Cross } from "../../ui/icons";

type Gate = Schemas["Gate"];

const ANSWERS: Record<Schemas["Why"]["answer"], [string, string]> = {
  now: ["Yes, it is fetched as soon as its turn comes.", "bg-good-ground text-good"],
  at: ["Not now, but later.", "bg-info-ground text-info"],
  never: ["No, and not later either unless something changes.", "bg-warn-ground text-warn"],
};

export function WhyView({ url }: { url: string }) {
  const why = useQuery({ queryKey: ["why", url], queryFn: () => ask(api.GET("/api/why", { params: { query: { of: url } } })), refetchInterval: 15_000 });
  return (
    <Loaded query={why} lines={10}>
      {(data) => (
        <div className="flex flex-col gap-4">
          <div className={`flex flex-wrap items-start justify-between gap-3 rounded-lg border border-line px-4 py-3 ${ANSWERS[data.answer][1]}`}>
            <div className="min-w-0">
              <p className="text-base font-semibold">Will it be fetched? {ANSWERS[data.answer][0]}</p>
              <p className="mt-0.5 break-words">{data.because}{data.next_fetch_at && <> · <Time at={data.next_fetch_at} /></>}</p>
              {data.remedy && <Remedy text={data.remedy} />}
            </div>
            <Button onClick={() => void why.refetch()} isBusy={why.isFetching}><Again /> Ask again</Button>
          </div>
          <div className="grid gap-4 xl:grid-cols-2">
            <Card title="The page" pad={false}><Gates of={data.page_gates} /></Card>
            <Card title={`Its domain, ${data.domain}`} pad={false}><Gates of={data.domain_gates} /></Card>
          </div>
        </div>
      )}
    </Loaded>
  );
}

const Remedy = ({ text }: { text: string }) => <p className="mt-1 text-xs text-ink">What would help: <code className="rounded bg-raised px-1.5 py-0.5 break-words">{text}</code></p>;

function Gates({ of }: { of: Gate[] }) {
  if (!of.length) return <p className="p-4 text-soft">Nothing is asked here.</p>;
  return (
    <ul className="divide-y divide-line">
      {of.map((gate) => (
        <li key={gate.name} className="grid grid-cols-[1.25rem_6rem_1fr] items-start gap-2 px-4 py-2">
          <Sign isOpen={gate.is_open} />
          <span className="font-medium">{gate.name}</span>
          <div className="min-w-0 break-words">
            {gate.sentence}
            {gate.opens_at && <span className="text-soft"> · opens <Time at={gate.opens_at} /></span>}
            {gate.remedy && <Remedy text={gate.remedy} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Sign({ isOpen }: { isOpen: boolean | null }) {
  if (isOpen === null) return <span title="Only told" className="mt-0.5 text-soft"><Clock /><span className="sr-only">told</span></span>;
  return isOpen
    ? <span title="Lets it through" className="mt-0.5 text-good"><Check /><span className="sr-only">open</span></span>
    : <span title="Holds it back" className="mt-0.5 text-bad"><Cross /><span className="sr-only">shut</span></span>;
}
