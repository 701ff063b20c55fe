/** A CSS selector for an element that a person clicked: short, and about what the page means rather than where it is. */

const NAME = /^[A-Za-z_][\w-]*$/;
const MOST_CLASSES = 2;
const HIGHEST = 6;

/** Selectors for the element, the best first: one that names it alone, then one for its like. */
export function proposeSelectors(element: Element): string[] {
  const root = element.ownerDocument;
  const own = ownSelectors(element);
  const alone = own.find((selector) => root.querySelectorAll(selector).length === 1) ?? pathTo(element);
  const like = own.find((selector) => root.querySelectorAll(selector).length > 1);
  return [...new Set([alone, ...(like ? [like] : [])])];
}

function ownSelectors(element: Element): string[] {
  const tag = element.tagName.toLowerCase();
  const found: string[] = [];
  if (NAME.test(element.id)) found.push(`#${element.id}`);
  const property = element.getAttribute("itemprop");
  if (property && /^[\w-]+$/.test(property)) found.push(`[itemprop=${property}]`);
  const classes = [...element.classList].filter((name) => NAME.test(name)).slice(0, MOST_CLASSES);
  for (const name of classes) found.push(`${tag}.${name}`);
  if (classes.length > 1) found.push(`${tag}.${classes.join(".")}`);
  found.push(tag);
  return found;
}

function pathTo(element: Element): string {
  const root = element.ownerDocument;
  let path = step(element);
  let above = element.parentElement;
  for (let height = 0; above && height < HIGHEST; height += 1, above = above.parentElement) {
    if (root.querySelectorAll(path).length === 1) return path;
    path = `${ownSelectors(above)[0]} > ${path}`;
  }
  return path;
}

function step(element: Element): string {
  const own = ownSelectors(element)[0] ?? element.tagName.toLowerCase();
  const like = [...(element.parentElement?.children ?? [])].filter((each) => each.matches(own));
  if (like.length < 2) return own;
  const place = [...(element.parentElement?.children ?? [])].indexOf(element) + 1;
  return `${own}:nth-child(${place})`;
}
