/** A filter one types; it counts when Enter is pressed or the field is left, so that the address does not change with every key. */
import { useEffect, useId, useState } from "react";

export function FilterBox({
  label,
  value,
  onChange,
  placeholder,
  isNumber = false,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  placeholder?: string;
  isNumber?: boolean;
}) {
  const id = useId();
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const commit = () => {
    const next = text.trim() || undefined;
    if (next !== value) onChange(next);
  };
  return (
    <form
      className="inline-flex items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        commit();
      }}
    >
      <label htmlFor={id} className="text-xs text-soft">
        {label}
      </label>
      <input
        id={id}
        value={text}
        inputMode={isNumber ? "numeric" : undefined}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        className={`min-h-9 rounded-md border border-line bg-surface px-2.5 placeholder:text-soft ${isNumber ? "w-20" : "w-44"}`}
      />
    </form>
  );
}
