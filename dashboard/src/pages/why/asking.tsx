/** Asking why about a domain, or about one of its pages. */
import { useState } from "react";
import { useFilters } from "../../ui/address";
import { Button, Field } from "../../ui/basic";
import { Question } from "../../ui/icons";
import { WhyView } from "./why";

export function WhyOfDomain({ name }: { name: string }) {
  const [filters, setFilters] = useFilters();
  return (
    <div className="flex flex-col gap-4">
      <AskBox value={filters.of ?? ""} onAsk={(of) => setFilters({ of })} name={name} />
      <WhyView of={filters.of ?? name} />
    </div>
  );
}

function AskBox({ value, onAsk, name }: { value: string; onAsk: (of: string | undefined) => void; name: string }) {
  const [text, setText] = useState(value);
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(text.trim() || undefined);
      }}
    >
      <div className="w-full min-w-0 sm:w-auto sm:flex-1">
        <Field label="Ask about a page" hint={`Empty: about the domain ${name}.`}>
          {(given) => (
            <input
              {...given}
              value={text}
              onChange={(event) => setText(event.target.value)}
              maxLength={8192}
              placeholder={`https://${name}/…`}
            />
          )}
        </Field>
      </div>
      <Button type="submit" className="sm:mb-5">
        <Question /> Ask why
      </Button>
    </form>
  );
}
