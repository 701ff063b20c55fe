/** What saving a profile would change, shown before it is saved. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { Badge, Button } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";
import { number } from "../../ui/format";
import { shortOf } from "../crawl_settings/values";

export interface Review {
  body: { settings: Record<string, unknown>; domains: string[] };
  difference: Schemas["ProfileDifference"];
}

export function ReviewDialog({
  review,
  onClose,
  onSave,
}: {
  review: Review;
  onClose: () => void;
  onSave: () => Promise<void>;
}) {
  const [isBusy, setIsBusy] = useState(false);
  const { difference, body } = review;
  const names = Object.keys(difference.settings);
  const isSame = !names.length && !difference.joined.length && !difference.left.length;
  return (
    <Dialog
      title={`Save the profile ${difference.name}?`}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onClick={onClose}>Back to the form</Button>
          <Button
            kind="main"
            data-first
            isBusy={isBusy}
            disabled={isSame}
            onClick={() => {
              setIsBusy(true);
              void onSave();
            }}
          >
            Save the profile
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {isSame && <p>Nothing would change: the profile has these settings and domains already.</p>}
        {names.length > 0 && (
          <dl className="flex flex-col gap-2">
            {names.map((name) => (
              <div key={name} className="grid gap-x-4 sm:grid-cols-[12rem_1fr]">
                <dt className="font-mono break-words">{name}</dt>
                <dd className="min-w-0 break-words">
                  <span className="text-soft">
                    {name in difference.before ? shortOf(difference.before[name]) : "default"} →
                  </span>{" "}
                  <span className="font-medium">
                    {name in body.settings ? shortOf(difference.settings[name]) : "default"}
                  </span>
                </dd>
              </div>
            ))}
          </dl>
        )}
        <Moved title="Join" tone="good" names={difference.joined} />
        <Moved title="Leave" tone="warn" names={difference.left} />
        {!isSame && <p className="text-soft">A running crawl applies the change within a second.</p>}
      </div>
    </Dialog>
  );
}

const SHOWN_NAMES = 50;

function Moved({ title, tone, names }: { title: string; tone: "good" | "warn"; names: string[] }) {
  if (!names.length) return null;
  return (
    <div>
      <Badge tone={tone}>
        {title}: {number(names.length)}
      </Badge>
      <p className="mt-1.5 font-mono break-words">
        {names.slice(0, SHOWN_NAMES).join(" ")}
        {names.length > SHOWN_NAMES && (
          <span className="text-soft"> and {number(names.length - SHOWN_NAMES)} more</span>
        )}
      </p>
    </div>
  );
}
