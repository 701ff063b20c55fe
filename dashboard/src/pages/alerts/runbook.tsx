/** What to do about an alert, in the words of its runbook. */
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Loaded } from "../../ui/basic";
import { type Block, blocksOf, type Inline } from "./markdown";

export function Runbook({ rule }: { rule: string }) {
  const texts = useQuery({
    queryKey: ["runbooks"],
    queryFn: () => import("./runbook_texts").then((file) => file.RUNBOOKS),
    staleTime: Infinity,
    retry: false,
  });
  return (
    <Loaded query={texts} lines={6}>
      {(known) => {
        const text = known[rule];
        if (!text) return <p className="text-soft">There is no runbook for this rule.</p>;
        // The first title names the rule, which stands above it already.
        return (
          <div className="flex flex-col gap-2">
            {blocksOf(text)
              .slice(1)
              .map((block, index) => (
                <Part key={index} block={block} />
              ))}
          </div>
        );
      }}
    </Loaded>
  );
}

function Part({ block }: { block: Block }) {
  if (block.kind === "title")
    return (
      <h3 className="mt-2 font-semibold">
        <Words of={block.parts} />
      </h3>
    );
  if (block.kind === "code")
    return (
      <pre className="overflow-auto rounded bg-raised p-2 font-mono text-xs" tabIndex={0}>
        {block.text}
      </pre>
    );
  if (block.kind === "list")
    return (
      <ul className="flex list-disc flex-col gap-1 pl-5">
        {block.items.map((item, index) => (
          <li key={index}>
            <Words of={item} />
          </li>
        ))}
      </ul>
    );
  return (
    <p>
      <Words of={block.parts} />
    </p>
  );
}

export const Words = ({ of }: { of: Inline[] }) =>
  of.map((part, index) => {
    if (part.kind === "code")
      return (
        <code key={index} className="rounded bg-raised px-1 font-mono text-xs break-words">
          {part.text}
        </code>
      );
    return part.kind === "strong" ? (
      <strong key={index}>{part.text}</strong>
    ) : (
      <Fragment key={index}>{part.text}</Fragment>
    );
  });
