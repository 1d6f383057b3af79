// Drives Firefox for the tests by WebDriver BiDi. Each line of the input is an act; each line of the output is the
// answer to one, or what the page told meanwhile. It ends with its input.

import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [executablePath, home, theme] = process.argv.slice(2);
const tell = (told) => process.stdout.write(`${JSON.stringify(told)}\n`);

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  headless: true,
  extraPrefsFirefox: {
    "browser.download.folderList": 2,
    "browser.download.dir": home,
    "browser.download.useDownloadDir": true,
    "layout.css.prefers-color-scheme.content-override": theme === "dark" ? 0 : 1,
  },
});
let page, screen;

/** Opens a page in the place of the one before: keys that have left that one would not come to it again. */
async function opened() {
  const before = page;
  page = await browser.newPage();
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) tell({ complaint: message.text() });
  });
  page.on("pageerror", (error) => tell({ complaint: String(error) }));
  page.on("request", (request) => tell({ request: request.url() }));
  if (screen) await page.setViewport(screen);
  await before?.close();
}

const acts = {
  evaluate: (expression) => page.evaluate(expression),
  load: async (url) => {
    await opened();
    await page.goto(url, { waitUntil: "load" });
    await page.bringToFront();
  },
  look: async (width, height) => {
    screen = { width, height, deviceScaleFactor: 1 };
    await page?.setViewport(screen);
  },
  press: async (key, held) => {
    for (const one of held) await page.keyboard.down(one);
    await page.keyboard.press(key);
    for (const one of held) await page.keyboard.up(one);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, act, values } = JSON.parse(line);
  try {
    tell({ id, value: await acts[act](...values) });
  } catch (error) {
    tell({ id, error: String(error) });
  }
}
await browser.close();
