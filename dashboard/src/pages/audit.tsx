/** Who changed what, and when. Nobody can change this. */
import { api, ask, type Schemas } from "../api/client";
import { useFilters } from "../ui/address";
import { Card, Empty, PageHead, State, Time } from "../ui/basic";
import { words } from "../ui/format";
import { List, useList } from "../ui/list";
import { detailsOf, whoOf } from "./audit/words";

type Entry = Schemas["AuditEntry"];

export function AuditPage() {
  const [filters, setFilters] = useFilters();
  const { who, action } = filters;
  const log = useList<Entry>(
    ["audit", who, action],
    (after) => ask(api.GET("/api/admin/audit", { params: { query: { who, action, after, limit: 100 } } })),
    { refetchInterval: 15_000 },
  );
  return (
    <>
      <PageHead
        title="Audit"
        about="Every change somebody made, here, through the API or on the command line. Nobody can change this list."
      />
      <Card pad={false}>
        <div className="flex flex-wrap gap-2 border-b border-line p-3">
          <Narrow label="Who" value={who} onChange={(value) => setFilters({ who: value })} />
          <Narrow label="Action" value={action} onChange={(value) => setFilters({ action: value })} />
        </div>
        <List
          label="Changes"
          rows={log.rows}
          query={log}
          keyOf={(entry) => entry.id}
          empty={
            <Empty title={who || action ? "No such change" : "Nothing was changed yet"}>
              {who || action ? "With these words; the whole name counts." : "Nobody has changed anything yet."}
            </Empty>
          }
          columns={[
            { name: "When", cell: (entry) => <Time at={entry.at} />, width: "8rem" },
            {
              name: "Who",
              cell: (entry) => (
                <button
                  type="button"
                  className="hover:underline"
                  title={entry.who}
                  onClick={() => setFilters({ who: entry.who })}
                >
                  {whoOf(entry.who).name} <span className="text-xs text-soft">{whoOf(entry.who).way}</span>
                </button>
              ),
              width: "minmax(6rem,10rem)",
            },
            {
              name: "Did",
              cell: (entry) => (
                <button
                  type="button"
                  className="block max-w-full truncate first-letter:uppercase hover:underline"
                  title={entry.action}
                  onClick={() => setFilters({ action: entry.action })}
                >
                  {words(entry.action.replace(".", ": "))}
                </button>
              ),
              width: "minmax(8rem,14rem)",
            },
            {
              name: "To",
              cell: (entry) => (
                <span title={entry.object_id ?? ""}>
                  {[words(entry.object_kind ?? ""), entry.object_id].filter(Boolean).join(" ") || "–"}
                </span>
              ),
              width: "minmax(8rem,1.5fr)",
              isWideOnly: true,
            },
            {
              name: "Details",
              cell: (entry) => (
                <span className="text-soft" title={JSON.stringify(entry.details)}>
                  {detailsOf(entry.details)}
                </span>
              ),
              width: "minmax(8rem,2fr)",
              isWideOnly: true,
            },
            { name: "Result", cell: (entry) => <State of={entry.outcome} />, width: "7rem", isWideOnly: true },
          ]}
        />
      </Card>
    </>
  );
}

function Narrow({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange((new FormData(event.currentTarget).get("word") as string).trim() || undefined);
      }}
    >
      <input
        key={value ?? ""}
        name="word"
        type="search"
        aria-label={label}
        placeholder={label}
        defaultValue={value ?? ""}
        className="min-h-9 rounded-md border border-line bg-surface px-2.5"
        onChange={(event) => {
          if (!event.target.value && value) onChange(undefined);
        }}
      />
    </form>
  );
}
