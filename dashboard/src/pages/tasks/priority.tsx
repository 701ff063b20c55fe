/** Which priority: 1 is first, 10 is last. */
import { useState } from "react";
import { Button, Field } from "../../ui/basic";
import { Dialog } from "../../ui/dialog";

export const PRIORITIES = Array.from({ length: 10 }, (_, index) => index + 1);
export const priorityText = (priority: number) =>
  priority === 1 ? "1, first" : priority === 10 ? "10, last" : priority === 5 ? "5, in the middle" : String(priority);

export function PriorityDialog({
  now = 5,
  onClose,
  onChoose,
}: {
  now?: number;
  onClose: () => void;
  onChoose: (priority: number) => void;
}) {
  const [priority, setPriority] = useState(now);
  return (
    <Dialog
      title="Another priority"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button kind="main" onClick={() => onChoose(priority)}>
            Set priority {priority}
          </Button>
        </>
      }
    >
      <Field label="Priority" hint="It counts from the next claim on; what a worker has in hand goes on.">
        {(given) => (
          <select {...given} value={priority} onChange={(event) => setPriority(Number(event.target.value))}>
            {PRIORITIES.map((each) => (
              <option key={each} value={each}>
                {priorityText(each)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Dialog>
  );
}
