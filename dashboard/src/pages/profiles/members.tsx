/** The names and patterns of a profile, edited as a list. */
import { Field } from "../../ui/basic";

const SHOWN_LINES = 12;

export function MembersField({
  text,
  onChange,
  error,
}: {
  text: string;
  onChange: (text: string) => void;
  error: string | undefined;
}) {
  return (
    <Field
      label="Names and patterns"
      hint="One on each line. A name wins over a pattern, a longer pattern over a shorter one. Domains that are added later join too."
      error={error}
    >
      {(given) => (
        <textarea
          {...given}
          className={`${given.className} py-2 font-mono`}
          rows={Math.min(Math.max(text.split("\n").length + 1, 4), SHOWN_LINES)}
          value={text}
          placeholder={"shop.example\n*.shop.example"}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
