import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from '../fixtures/browser.ts';
import { serverFor } from '../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { lacks } from '../fixtures/needs.ts';
import { authorityFor } from './authority.ts';
import { startVictimMachine, type Victim } from './victim.ts';

/** What a hostile page on another port tries with the address of the callback; each as the body of a script. */
const attempts: Readonly<Record<string, (url: string) => string>> = {
  'an image': (url) => `const img = new Image(); img.onload = img.onerror = () => done(); img.src = ${quoted(url)};`,
  'a fetch': (url) => `fetch(${quoted(url)}).then(done, done);`,
  'a fetch without cors': (url) => `fetch(${quoted(url)}, {mode: 'no-cors'}).then(done, done);`,
  'a fetch with credentials': (url) =>
    `fetch(${quoted(url)}, {mode: 'no-cors', credentials: 'include'}).then(done, done);`,
  'a posted fetch': (url) => `fetch(${quoted(url)}, {method: 'POST', mode: 'no-cors', body: 'x'}).then(done, done);`,
  'a preflighted fetch': (url) => `fetch(${quoted(url)}, {headers: {'x-evil': '1'}}).then(done, done);`,
  'an iframe': (url) =>
    `const f = document.createElement('iframe'); f.onload = () => done(); f.src = ${quoted(url)}; document.body.append(f);`,
  'an object': (url) =>
    `const o = document.createElement('object'); o.onload = o.onerror = () => done(); o.data = ${quoted(url)}; document.body.append(o);`,
  'a script': (url) =>
    `const s = document.createElement('script'); s.onload = s.onerror = () => done(); s.src = ${quoted(url)}; document.body.append(s);`,
  'a style sheet': (url) =>
    `const l = document.createElement('link'); l.rel = 'stylesheet'; l.onload = l.onerror = () => done(); l.href = ${quoted(url)}; document.head.append(l);`,
  'a form into a frame': (url) =>
    `document.body.innerHTML = '<iframe name=t></iframe><form method=post target=t></form>'; const f = document.forms[0]; f.action = ${quoted(url)}; document.querySelector('iframe').onload = () => done(); f.submit();`,
  'a beacon': (url) => `navigator.sendBeacon(${quoted(url)}, 'x'); setTimeout(done, 300);`,
  'a socket': (url) =>
    `const w = new WebSocket(${quoted(url.replace('http:', 'ws:'))}); w.onerror = w.onclose = () => done();`,
  'an event source': (url) => `const e = new EventSource(${quoted(url)}); e.onerror = () => { e.close(); done(); };`,
};

describe.skipIf(lacks('chromium'))('a hostile page in a real browser', () => {
  let browser: Browser;
  let folders: Folders;
  beforeAll(async () => {
    folders = makeFolders();
    browser = await launchBrowser(folders);
  });
  afterAll(async () => {
    await browser.close();
    folders.remove();
  });

  /** A page on another port that runs the script, and what came back to it. */
  async function visit(script: string): Promise<void> {
    const site = await serverFor((_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<!doctype html><title>evil</title><body><script>function done() { document.title = 'over'; }\n${script}</script>`,
        ),
    );
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(site.origin);
    await page.waitForFunction('document.title === "over"', undefined, { timeout: 10_000 });
  }

  async function victim(words: readonly string[] = []): Promise<Victim> {
    return (await startVictimMachine(await authorityFor())).login(words);
  }

  // The genuine address is the worst case: whatever the page sends must not count, even with the right state.
  test.each(Object.entries(attempts))('rules 11, 17, 18: %s does not end the login', async (_, attempt) => {
    const armed = await victim();
    await visit(attempt(`http://${armed.host}${armed.genuine}`));
    await armed.completes();
  });

  test('rule 30: the bridge in a frame of another site hands nothing over', async () => {
    const armed = await victim(['--flow', 'implicit']);
    const fragment = `access_token=evil-token&token_type=bearer&expires_in=9&state=${armed.state}`;
    await visit(attempts['an iframe']?.(`http://${armed.host}/callback#${fragment}`) ?? '');
    armed.running.kill('SIGINT');
    expect((await armed.running.ended).code).toBe(130);
  });

  test('rule 12: a name that was rebound to this machine is answered 421, and reads nothing', async () => {
    const armed = await victim();
    const rebound = await launchBrowser(folders, ['--host-resolver-rules=MAP evil.example 127.0.0.1']);
    try {
      const page = await rebound.newPage();
      const answer = await page.goto(`http://evil.example:${armed.port}${armed.genuine}`);
      expect(answer?.status()).toBe(421);
      expect(await page.content()).not.toContain(armed.state);
    } finally {
      await rebound.close();
    }
    await armed.completes();
  });

  test('a top-level navigation by a link of another site with a foreign state ends the login without a token request', async () => {
    const authority = await authorityFor();
    const armed = await (await startVictimMachine(authority)).login(['-o', 'json']);
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`http://${armed.host}/callback?code=evil&state=evil`);
    expect(page.url()).not.toContain('evil');
    expect((await armed.running.ended).code).toBe(4);
    expect(authority.tokenRequests()).toEqual([]);
  });
});

function quoted(url: string): string {
  return JSON.stringify(url).replaceAll('<', '\\u003c');
}
