/** Where in the code something broke; text, whatever it holds. */
export const Stack = ({ text, about }: { text: string; about: string }) => (
  <figure className="min-w-0">
    <figcaption className="mb-1 text-xs text-soft">{about}</figcaption>
    {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: what gets the focus needs a name. */}
    <pre tabIndex={0} aria-label={about} className="max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs">
      {text}
    </pre>
  </figure>
);
