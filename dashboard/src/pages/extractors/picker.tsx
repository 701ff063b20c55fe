/** A stored page to choose an element in. It comes from a site: none of its scripts run, and nothing is loaded. */
import { useEffect, useRef, useState } from "react";
import { Button } from "../../ui/basic";
import { proposeSelectors } from "./selector";

const POLICY =
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">";
const REMOVED = "script, style, link, meta, base, iframe, frame, object, embed, portal, noscript, template";
const REMOTE = ["src", "srcset", "href", "action", "formaction", "poster", "background", "data", "ping", "style"];
const MARK = "2px solid #d97706";

/** The page without what could run or load; the sandbox and the policy would stop it too. */
export function harmless(html: string): string {
  // Styles go before the page is parsed: the browser reports each of them to the console as blocked.
  const bare = html.replace(/<style\b[\s\S]*?<\/style\s*>/gi, "").replace(/\sstyle\s*=/gi, " data-style=");
  const page = new DOMParser().parseFromString(bare, "text/html");
  for (const element of page.querySelectorAll(REMOVED)) element.remove();
  for (const element of page.querySelectorAll("*")) {
    for (const { name } of [...element.attributes]) {
      if (name.startsWith("on") || REMOTE.includes(name)) element.removeAttribute(name);
    }
  }
  return `<!doctype html><html><head>${POLICY}</head>${page.body.outerHTML}</html>`;
}

export function Picker({ html, onPick }: { html: string; onPick: (selector: string) => void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [proposed, setProposed] = useState<string[]>([]);
  const [text, setText] = useState("");
  useEffect(() => {
    const place = frame.current;
    if (!place) return;
    let marked: HTMLElement | null = null;
    const pick = (event: Event) => {
      event.preventDefault();
      const element = event.target as HTMLElement;
      if (marked) marked.style.outline = "";
      marked = element;
      element.style.outline = MARK;
      setProposed(proposeSelectors(element));
      setText((element.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 120));
    };
    const ready = () => place.contentDocument?.addEventListener("click", pick, true);
    place.addEventListener("load", ready);
    place.srcdoc = harmless(html);
    return () => place.removeEventListener("load", ready);
  }, [html]);
  return (
    <div className="flex flex-col gap-2">
      <iframe
        ref={frame}
        title="The stored page"
        sandbox="allow-same-origin"
        className="h-96 w-full rounded-md border border-line bg-white"
      />
      {proposed.length ? (
        <div className="flex flex-wrap items-center gap-2">
          {proposed.map((selector) => (
            <Button key={selector} onClick={() => onPick(selector)} title="Copy it into the clipboard">
              <code className="max-w-[16rem] truncate">{selector}</code>
            </Button>
          ))}
          <span className="min-w-0 truncate text-soft">{text}</span>
        </div>
      ) : (
        <p className="text-soft">
          Click an element to get a CSS selector for it. Scripts and styles of the site are left out.
        </p>
      )}
    </div>
  );
}
