/** Why a domain, or a page of it, is or is not fetched now: gate by gate, as `forager why` prints it. */
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "../../api/client";
import { Button, Card, Loaded, Time } from "../../ui/basic";
import { words } from "../../ui/format";
import { Again, Check, Cross, Question } from "../../ui/icons";

type Gate = Schemas["Gate"];
type Why = Schemas["Why"];

/** Asked once for all that show it. */
export const useWhy = (of: string, isAsked = true) =>
  useQuery({
    queryKey: ["why", of],
    queryFn: () => ask(api.GET("/api/why", { params: { query: { of } } })),
    refetchInterval: 5_000,
    enabled: isAsked,
  });

export function WhyView({ of }: { of: string }) {
  const why = useWhy(of);
  return (
    <Loaded query={why} lines={12}>
      {(data) => (
        <div className="flex flex-col gap-4">
          <WhyAnswer why={data} again={() => void why.refetch()} />
          <div className={`grid items-start gap-4 ${data.page_checks.length ? "xl:grid-cols-2" : ""}`}>
            {data.page_checks.length > 0 && (
              <Card title="The page" pad={false}>
                <Gates of={data.page_checks} isNow={data.answer === "now"} />
              </Card>
            )}
            <Card title={`The domain ${data.domain}`} pad={false}>
              <Gates of={data.domain_checks} isNow={data.answer === "now"} />
            </Card>
          </div>
        </div>
      )}
    </Loaded>
  );
}

const ANSWERS: Record<Why["answer"], [string, string]> = {
  now: ["Yes, as soon as its turn comes.", "bg-good-ground text-good"],
  at: ["Not now, but later.", "bg-info-ground text-info"],
  never: ["No, and not later either unless something changes.", "bg-warn-ground text-warn"],
};

/** `isShort`: inside a card, without the button. */
export function WhyAnswer({ why, again, isShort = false }: { why: Why; again?: () => void; isShort?: boolean }) {
  const [sentence, tone] = ANSWERS[why.answer];
  return (
    <div className={`flex flex-wrap items-start justify-between gap-3 rounded-lg border border-line px-4 py-3 ${tone}`}>
      <div className="min-w-0">
        <p className={isShort ? "font-medium" : "text-base font-semibold"}>Will it be fetched? {sentence}</p>
        <p className="mt-0.5 break-words">
          {why.because}
          {why.next_fetch_at && (
            <>
              {" "}
              · <Time at={why.next_fetch_at} />
            </>
          )}
        </p>
        {!isShort && why.url && <p className="mt-1 text-xs break-all text-ink">{why.url}</p>}
        {why.remedy && <Remedy text={why.remedy} />}
      </div>
      {again && (
        <Button onClick={again}>
          <Again /> Ask again
        </Button>
      )}
    </div>
  );
}

const Remedy = ({ text }: { text: string }) => (
  <p className="mt-1 text-xs text-ink">
    What helps: <code className="rounded bg-raised px-1.5 py-0.5 font-mono break-words">{text}</code>
  </p>
);

const SHOWN = {
  open: { Icon: Check, tone: "text-good", says: "lets it through" },
  shut: { Icon: Cross, tone: "text-bad", says: "holds it back" },
  fact: { Icon: Question, tone: "text-soft", says: "only told" },
};

/** What is being crawled is held by its worker, which keeps others out and not the page: nothing is wrong with that. */
function Gates({ of, isNow }: { of: Gate[]; isNow: boolean }) {
  return (
    <ol className="divide-y divide-line">
      {of.map((gate) => {
        const isShut = gate.is_open === false && !(isNow && gate.name === "lease");
        const { Icon, tone, says } = SHOWN[gate.is_open ? "open" : isShut ? "shut" : "fact"];
        return (
          <li
            key={gate.name}
            className={`grid grid-cols-[1.25rem_5.5rem_1fr] items-start gap-x-3 px-4 py-2 ${isShut ? "bg-bad-ground" : ""}`}
          >
            <span className={`mt-0.5 ${tone}`} title={says}>
              <Icon />
              <span className="sr-only">{says}</span>
            </span>
            <span className="font-medium first-letter:uppercase">{words(gate.name)}</span>
            <span className="min-w-0 break-words">
              {gate.sentence}
              {gate.opens_at && (
                <span className={isShut ? "text-ink" : "text-soft"}>
                  {" "}
                  (opens <Time at={gate.opens_at} />)
                </span>
              )}
              {gate.remedy && <Remedy text={gate.remedy} />}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
