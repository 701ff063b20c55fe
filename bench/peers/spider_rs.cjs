// spider-rs: all sites at once, each page handed to a callback that notes its address. It decides its own concurrency.
const fs = require("node:fs");
const { Website } = require("@spider-rs/spider-rs");

const order = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const pages = new Set();
const ledger = { urls: [], titles: 0, descriptions: 0, links: 0, first_request_at: 0, first_page_at: 0, last_done_at: 0 };

function note(error, page) {
  if (error || page.statusCode !== 200 || pages.has(page.url)) return;
  pages.add(page.url);
  ledger.last_done_at = Date.now() / 1000;
  ledger.first_page_at ||= ledger.last_done_at;
}

async function settle() {
  // The crawl ends before its last pages have reached the callback.
  for (let before = -1; before < pages.size; ) {
    before = pages.size;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function main() {
  ledger.first_request_at = Date.now() / 1000;
  await Promise.all(order.seeds.map((seed) => new Website(seed).withRespectRobotsTxt(false).build().crawl(note)));
  await settle();
  ledger.urls = [...pages];
  fs.writeFileSync(order.ledger, JSON.stringify(ledger));
  process.exit(0);
}

main();
