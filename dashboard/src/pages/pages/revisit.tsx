/** How often one page is visited again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { useIsAdmin } from "../../api/session";
import { Button, Select, Time } from "../../ui/basic";
import { useToast } from "../../ui/dialog";
import { duration } from "../../ui/format";

const DAY = 86_400;
const SPANS: [string, string][] = [
  ["900", "every 15 minutes"],
  ["3600", "every hour"],
  ["21600", "every 6 hours"],
  [`${DAY}`, "every day"],
  [`${7 * DAY}`, "every week"],
  [`${30 * DAY}`, "every 30 days"],
];

export function Revisit({ page }: { page: Schemas["Page"] }) {
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const toast = useToast();
  const now = page.revisit_every_s === null ? undefined : String(page.revisit_every_s);
  const [chosen, setChosen] = useState(now);
  const saving = useMutation({
    mutationFn: () =>
      ask(
        api.PATCH("/api/admin/pages/{page}", {
          params: { path: { page: page.id } },
          body: { revisit_every_s: chosen === undefined ? null : Number(chosen) },
        }),
      ),
    onSuccess: (done) => {
      toast(
        done.planned
          ? "Saved. Its next visit is planned."
          : done.dropped
            ? "Saved. Its planned visit was forgotten."
            : "Saved.",
      );
      void queries.invalidateQueries({ queryKey: ["page"] });
      void queries.invalidateQueries({ queryKey: ["why"] });
    },
    onError: (error) => toast(error.message, "bad"),
  });
  const options =
    now && !SPANS.some(([span]) => span === now)
      ? [[now, `every ${duration(Number(now))}`] as [string, string], ...SPANS]
      : SPANS;
  return (
    <div className="flex flex-col gap-2">
      <p>
        {page.revisit_every_s === null
          ? "It is visited again when its domain is."
          : `It is visited again every ${duration(page.revisit_every_s)}.`}
        {page.next_visit_at && (
          <>
            {" "}
            The next visit is <Time at={page.next_visit_at} />.
          </>
        )}
      </p>
      {isAdmin && (
        <div className="flex flex-wrap items-center gap-2">
          <Select label="Visit again" all="as its domain is" value={chosen} options={options} onChange={setChosen} />
          <Button onClick={() => saving.mutate()} isBusy={saving.isPending} disabled={chosen === now}>
            Save
          </Button>
        </div>
      )}
    </div>
  );
}
