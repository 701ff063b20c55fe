/** Questions before what cannot be undone, and short notes after what was done. Native dialogs: focus stays inside, Escape closes. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { Button } from "./basic";
import { Alert, Check, Cross } from "./icons";

export function Dialog({
  title,
  onClose,
  children,
  footer,
  isWide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  isWide?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
    // The browser would choose the cross; who opens a dialog wants to write, or to answer.
    element.current?.querySelector<HTMLElement>("textarea, input:not([type=checkbox]), select, [data-first]")?.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the Escape key closes it by onCancel.
    <dialog
      ref={element}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
      className={`max-h-[90dvh] w-[calc(100vw-2rem)] overflow-auto rounded-xl border border-line bg-surface p-0 text-ink shadow-xl ${isWide ? "max-w-3xl" : "max-w-md"}`}
    >
      <header className="flex items-center justify-between gap-4 border-b border-line px-5 py-3">
        <h2 className="font-semibold">{title}</h2>
        <Button kind="quiet" onClick={onClose} aria-label="Close" className="px-2">
          <Cross />
        </Button>
      </header>
      <div className="px-5 py-4">{children}</div>
      {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>}
    </dialog>
  );
}

interface Question {
  title: string;
  text: ReactNode;
  /** What the button says: the verb, not "OK". */
  verb: string;
  isDangerous?: boolean;
  /** Asked for beside the answer. */
  reason?: string;
}
type Answer = { reason: string } | null;
const Asking = createContext<(question: Question) => Promise<Answer>>(async () => null);
const Telling = createContext<(text: string, tone?: "good" | "bad") => void>(() => {});

/** `const yes = await confirm({…})`: null when they thought better of it. */
export const useConfirm = () => useContext(Asking);
export const useToast = () => useContext(Telling);

const SHOWN_MS = 6_000;

export function Dialogs({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<(Question & { answer: (given: Answer) => void }) | null>(null);
  const [notes, setNotes] = useState<{ id: number; text: string; tone: "good" | "bad" }[]>([]);
  const count = useRef(0);
  const confirm = useCallback(
    (asked: Question) => new Promise<Answer>((answer) => setQuestion({ ...asked, answer })),
    [],
  );
  const toast = useCallback((text: string, tone: "good" | "bad" = "good") => {
    const id = ++count.current;
    setNotes((all) => [...all.slice(-3), { id, text, tone }]);
    setTimeout(() => setNotes((all) => all.filter((note) => note.id !== id)), SHOWN_MS);
  }, []);
  const close = (given: Answer) => {
    question?.answer(given);
    setQuestion(null);
  };
  return (
    <Asking.Provider value={confirm}>
      <Telling.Provider value={toast}>
        {children}
        {question && <Ask question={question} close={close} />}
        <div
          aria-live="polite"
          className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex flex-col items-end gap-2"
        >
          {notes.map((note) => (
            <div
              key={note.id}
              className={`pointer-events-auto flex max-w-md items-start gap-2 rounded-lg border border-line bg-surface px-4 py-3 shadow-lg ${note.tone === "bad" ? "text-bad" : ""}`}
            >
              {note.tone === "bad" ? (
                <Alert className="mt-0.5 size-4" />
              ) : (
                <Check className="mt-0.5 size-4 text-good" />
              )}
              <span className="break-words">{note.text}</span>
            </div>
          ))}
        </div>
      </Telling.Provider>
    </Asking.Provider>
  );
}

function Ask({ question, close }: { question: Question; close: (given: Answer) => void }) {
  const [reason, setReason] = useState("");
  return (
    <Dialog
      title={question.title}
      onClose={() => close(null)}
      footer={
        <>
          <Button onClick={() => close(null)} data-first={question.isDangerous || undefined}>
            Keep it as it is
          </Button>
          <Button
            kind={question.isDangerous ? "danger" : "main"}
            onClick={() => close({ reason })}
            data-first={!question.isDangerous || undefined}
          >
            {question.verb}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <div>{question.text}</div>
        {question.reason && (
          <label className="flex flex-col gap-1">
            <span className="text-soft">{question.reason}</span>
            <input
              value={reason}
              onChange={(event) => setReason(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && !question.isDangerous) close({ reason });
              }}
              maxLength={500}
              className="min-h-9 rounded-md border border-line bg-surface px-2.5"
            />
          </label>
        )}
      </div>
    </Dialog>
  );
}
