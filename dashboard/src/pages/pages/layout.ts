/** Where a page and its neighbours stand in the picture. Pure. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Picture {
  width: number;
  height: number;
  middle: Box;
  /** Pages that link here. */
  ins: Box[];
  /** Pages this one links to. */
  outs: Box[];
  /** Lines from neighbour to page and from page to neighbour, as SVG paths. */
  lines: string[];
}

const ROW = 34;
const BOX = 26;
const NARROW = 640;
const INDENT = 36;

/** Three columns where there is room; on a phone who links here stands above, and what it links to below. */
export function layOut(width: number, ins: number, outs: number): Picture {
  return width < NARROW ? stack(width, ins, outs) : columns(width, ins, outs);
}

function columns(width: number, ins: number, outs: number): Picture {
  const height = Math.max(ins, outs, 2) * ROW + 8;
  const side = Math.floor(width * 0.32);
  const centre = Math.floor(width * 0.2);
  const middle = { x: (width - centre) / 2, y: height / 2 - 22, width: centre, height: 44 };
  const column = (count: number, x: number): Box[] =>
    Array.from({ length: count }, (_, index) => ({
      x,
      y: (height - count * ROW) / 2 + index * ROW + (ROW - BOX) / 2,
      width: side,
      height: BOX,
    }));
  const left = column(ins, 0);
  const right = column(outs, width - side);
  const bend = (fromX: number, fromY: number, toX: number, toY: number) => {
    const half = (fromX + toX) / 2;
    return `M${fromX} ${fromY}C${half} ${fromY} ${half} ${toY} ${toX} ${toY}`;
  };
  const centreY = middle.y + middle.height / 2;
  return {
    width,
    height,
    middle,
    ins: left,
    outs: right,
    lines: [
      ...left.map((box) => bend(box.x + box.width, box.y + BOX / 2, middle.x - 5, centreY)),
      ...right.map((box) => bend(middle.x + middle.width, centreY, box.x - 5, box.y + BOX / 2)),
    ],
  };
}

function stack(width: number, ins: number, outs: number): Picture {
  const row = (index: number): Box => ({ x: INDENT, y: index * ROW + 4, width: width - INDENT, height: BOX });
  const above = Array.from({ length: ins }, (_, index) => row(index));
  const middle = { x: 0, y: ins * ROW + 8, width, height: 40 };
  const below = Array.from({ length: outs }, (_, index) => ({ ...row(index), y: ins * ROW + 56 + index * ROW }));
  return {
    width,
    height: (ins + outs) * ROW + 60,
    middle,
    ins: above,
    outs: below,
    lines: [
      ...above.map((box) => `M${box.x} ${box.y + BOX / 2}H14V${middle.y - 5}`),
      ...below.map((box) => `M22 ${middle.y + middle.height}V${box.y + BOX / 2}H${box.x - 5}`),
    ],
  };
}

/** As much of a text as fits, by the width of a letter. */
export function fit(text: string, width: number, letter = 6.6): string {
  const most = Math.max(Math.floor((width - 16) / letter), 3);
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
