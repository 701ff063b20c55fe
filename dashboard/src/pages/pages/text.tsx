/** The text of a page as it was read, and what changed between two visits. Built of elements of ours: nothing of the site
 * is shown as HTML, and no image is loaded. */
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useMemo } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useFilters } from "../../ui/address";
import { Card, Empty, Loaded, Select } from "../../ui/basic";
import { safeHref } from "../../ui/format";
import { type Block, type Inline, readMarkdown } from "./markdown";

type Page = Schemas["Page"];
type TaskRow = Schemas["TaskRow"];
const MOST_CHARACTERS = 300_000;
const VISITS = 100;

const useText = (page: number, task: number | undefined, against: number | undefined, readAt: string | null) =>
  useQuery({
    queryKey: ["page", String(page), "text", task, against, readAt],
    queryFn: () =>
      ask<string>(
        api.GET("/api/pages/{page}/text", {
          params: { path: { page }, query: { task, against } },
          parseAs: "text",
        }) as never,
      ),
    staleTime: 60_000,
    retry: false,
  });

/** As in the address: `?visit=12&against=7`. */
export function TextOf({ page }: { page: Page }) {
  const [filters, set] = useFilters();
  const [task, against] = [numberOf(filters.visit), numberOf(filters.against)];
  const visits = useQuery({
    queryKey: ["page", String(page.id), "visits"],
    queryFn: () =>
      ask(api.GET("/api/pages/{page}/tasks", { params: { path: { page: page.id }, query: { limit: VISITS } } })),
    staleTime: 30_000,
  });
  const text = useText(page.id, task, against, page.fetched_at);
  const kept = (visits.data?.items ?? []).filter((each) => each.has_body);
  return (
    <Card title={against ? "What changed" : "The text that was read"}>
      {kept.length > 1 && (
        <div className="mb-4 flex flex-wrap gap-3">
          <VisitSelect
            label="Visit"
            none="the newest"
            value={task}
            visits={kept}
            onChange={(next) => set({ visit: next })}
          />
          <VisitSelect
            label="Compare with"
            none="nothing"
            value={against}
            visits={kept}
            onChange={(next) => set({ against: next })}
          />
        </div>
      )}
      {text.isError ? (
        <Empty title="No text is stored">{text.error.message}</Empty>
      ) : (
        <Loaded query={text} lines={8}>
          {(said) => (against ? <Diff text={said ?? ""} /> : <Markdown text={said ?? ""} />)}
        </Loaded>
      )}
    </Card>
  );
}

const numberOf = (given: string | undefined) => (given && /^\d+$/.test(given) ? Number(given) : undefined);

const labelOf = (visit: TaskRow) =>
  `${(visit.completed_at ?? "").slice(0, 16).replace("T", " ")} UTC, task ${visit.id}${visit.is_changed ? ", changed" : ""}`;

function VisitSelect(given: {
  label: string;
  none: string;
  value: number | undefined;
  visits: TaskRow[];
  onChange: (value: string | undefined) => void;
}) {
  return (
    <Select
      label={given.label}
      value={given.value ? String(given.value) : undefined}
      onChange={given.onChange}
      all={given.none}
      options={given.visits.map((visit): [string, string] => [String(visit.id), labelOf(visit)])}
    />
  );
}

function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => readMarkdown(text.slice(0, MOST_CHARACTERS)), [text]);
  if (!text.trim()) return <Empty title="The page has no text" />;
  return (
    <article className="max-w-[75ch] leading-relaxed">
      <Blocks of={blocks} />
      {text.length > MOST_CHARACTERS && (
        <p className="mt-4 text-soft">The rest is not shown here; `forager text` has it.</p>
      )}
    </article>
  );
}

const Blocks = ({ of }: { of: Block[] }) => (
  <div className="flex flex-col gap-3">
    {of.map((block, index) => (
      <BlockView key={index} block={block} />
    ))}
  </div>
);

const SIZES = ["text-xl", "text-lg", "text-base", "text-base", "text-sm", "text-sm"];

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return (
        <p
          role="heading"
          aria-level={Math.min(block.outline + 2, 6)}
          className={`mt-2 font-semibold break-words ${SIZES[block.level - 1]}`}
        >
          <Inlines of={block.inside} />
        </p>
      );
    case "paragraph":
      return (
        <p className="break-words">
          <Inlines of={block.inside} />
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-raised p-3 text-xs">
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr className="border-line" />;
    case "quote":
      return (
        <blockquote className="border-l-4 border-line pl-4 text-soft">
          <Blocks of={block.blocks} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks of={item} />
        </li>
      ));
      return block.start === null ? (
        <ul className="flex list-disc flex-col gap-1 pl-6">{items}</ul>
      ) : (
        <ol start={block.start} className="flex list-decimal flex-col gap-1 pl-8">
          {items}
        </ol>
      );
    }
    case "table":
      return <TableView rows={block.rows} />;
  }
}

function TableView({ rows: [head = [], ...body] }: { rows: Inline[][][] }) {
  const cells = (row: Inline[][], Cell: "th" | "td"): ReactNode =>
    row.map((cell, index) => {
      const As = cell.length ? Cell : "td";
      return (
        <As key={index} className="border border-line px-2 py-1 text-left align-top">
          <Inlines of={cell} />
        </As>
      );
    });
  return (
    <div tabIndex={0} role="group" aria-label="Table" className="overflow-x-auto">
      <table className="border-collapse text-sm">
        {head.some((cell) => cell.length) && (
          <thead>
            <tr>{cells(head, "th")}</tr>
          </thead>
        )}
        <tbody>
          {body.map((row, index) => (
            <tr key={index}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Inlines = ({ of }: { of: Inline[] }) => (
  <>
    {of.map((inline, index) => (
      <Fragment key={index}>
        <InlineView inline={inline} />
      </Fragment>
    ))}
  </>
);

function InlineView({ inline }: { inline: Inline }) {
  switch (inline.kind) {
    case "text":
      return inline.text;
    case "break":
      return <br />;
    case "code":
      return <code className="rounded bg-raised px-1 text-[0.9em] break-words">{inline.text}</code>;
    case "strong":
      return (
        <strong>
          <Inlines of={inline.inside} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines of={inline.inside} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines of={inline.inside} />
        </del>
      );
    case "image":
      return (
        <span className="rounded border border-line px-1.5 text-sm text-soft" title={inline.url}>
          image{inline.alt && `: ${inline.alt}`}
        </span>
      );
    case "link": {
      const href = safeHref(inline.url);
      const inside = <Inlines of={inline.inside} />;
      return href ? (
        <a
          href={href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          className="break-words text-brand underline underline-offset-2"
        >
          {inside}
        </a>
      ) : (
        inside
      );
    }
  }
}

const TONES: Record<string, string> = {
  "+": "bg-good-ground text-good",
  "-": "bg-bad-ground text-bad",
  "@": "text-soft",
};

function Diff({ text }: { text: string }) {
  if (!text) return <Empty title="Nothing changed">Both visits read the same text.</Empty>;
  const lines = text.slice(0, MOST_CHARACTERS).split("\n").slice(2);
  return (
    <div className="font-mono text-xs leading-relaxed">
      {lines.map((line, index) => (
        <p key={index} className={`px-2 break-words whitespace-pre-wrap ${TONES[line.slice(0, 1)] ?? ""}`}>
          {line || " "}
        </p>
      ))}
    </div>
  );
}
