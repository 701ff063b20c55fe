/** A small picture from our own store; nothing is ever loaded from the site it was found on. */
import { useState } from "react";
import { words } from "../../ui/format";
import { Picture } from "../../ui/icons";

/** `id` null: there is no picture, and `why` says so. */
export function Thumb({
  id,
  alt,
  why,
  className = "",
}: {
  id: number | null | undefined;
  alt: string;
  why?: string | null;
  className?: string;
}) {
  const [isBroken, setIsBroken] = useState(false);
  if (id == null || isBroken) {
    return (
      <div
        className={`flex flex-col items-center justify-center gap-1 bg-raised p-2 text-center text-xs text-soft ${className}`}
      >
        <Picture className="size-6" />
        {(isBroken || why) && (
          <span className="line-clamp-2 break-words">{isBroken ? "could not be shown" : words(why)}</span>
        )}
      </div>
    );
  }
  return (
    <img
      src={`/api/images/${id}/thumbnail`}
      alt={alt}
      loading="lazy"
      decoding="async"
      onError={() => setIsBroken(true)}
      className={`bg-raised object-contain ${className}`}
    />
  );
}
