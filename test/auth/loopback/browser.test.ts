import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../../fixtures/browser.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { state } from './loopback-fixture.ts';
import { listening, type Started, start } from './raw-client.ts';

/** A stand-in authorization page: whatever is asked for, it redirects to the address in the query. */
async function standIn(body = ''): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    response.writeHead(to === null ? 200 : 302, to === null ? { 'content-type': 'text/html' } : { location: to });
    response.end(to === null ? body : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { origin: `http://127.0.0.1:${address.port}`, server };
}

describe.skipIf(lacks('chromium'))('a real browser', () => {
  let browser: Browser;
  let folders: Folders;
  let authorization: Awaited<ReturnType<typeof standIn>>;

  beforeAll(async () => {
    folders = makeFolders();
    browser = await launchBrowser(folders);
    authorization = await standIn();
  }, 30_000);

  afterAll(async () => {
    await browser.close();
    authorization.server.close();
    folders.remove();
  });

  /** A login whose authorization page answers at once with `response` behind the callback URL. */
  async function login(
    flow: 'code' | 'implicit',
    response: string,
    own: Parameters<typeof start>[0] = {},
  ): Promise<Started> {
    return start({
      flow,
      authorizationOrigin: authorization.origin,
      authorizationUrl: (callbackUrl) => `${authorization.origin}/?to=${encodeURIComponent(callbackUrl + response)}`,
      ...own,
    });
  }

  /** The tab after it followed the start link, and everything its console complained of. */
  async function follow(started: Started): Promise<{ readonly tab: Page; readonly complaints: readonly string[] }> {
    const tab = await browser.newPage();
    const complaints: string[] = [];
    tab.on('console', (message) => {
      // The icon nobody serves is asked for by the browser itself.
      if (!message.location().url.endsWith('/favicon.ico')) complaints.push(message.text());
    });
    await tab.goto(started.loopback.startUrl);
    await tab.waitForURL(/\/done\//);
    return { tab, complaints };
  }

  /** Every address in the history of the tab. */
  async function history(tab: Page): Promise<readonly string[]> {
    const session = await tab.context().newCDPSession(tab);
    const { entries } = await session.send('Page.getNavigationHistory');
    return entries.map(({ url }) => url);
  }

  test('code flow: neither code nor state stays in the tab, and the page says who signed in', async () => {
    const started = await login('code', `?code=the-code&state=${state}`);
    const { tab, complaints } = await follow(started);
    expect(await tab.textContent('main.done h1')).toContain('Sammy');
    expect(await tab.title()).toBe('Signed in · cloudctl');
    expect(tab.url()).toMatch(new RegExp(`^http://${started.host}/done/[\\w-]{43}$`));
    expect((await history(tab)).join(' ')).not.toMatch(/the-code|callback/);
    expect(complaints).toEqual([]);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['code']);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
    await tab.close();
  });

  test('rule 30, implicit flow: the bridge hands the fragment over, and no access token stays in the tab', async () => {
    const started = await login(
      'implicit',
      `#access_token=the-token&token_type=bearer&expires_in=2592000&state=${state}`,
    );
    const { tab, complaints } = await follow(started);
    expect(await tab.textContent('main.done h1')).toContain('Sammy');
    expect(tab.url()).toMatch(new RegExp(`^http://${started.host}/done/[\\w-]{43}$`));
    expect((await history(tab)).join(' ')).not.toMatch(/the-token|access_token|#/);
    expect(complaints).toEqual([]);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['implicit_grant']);
    await started.loopback.closed;
    expect(await listening(started.port)).toBe(false);
    await tab.close();
  });

  test('implicit flow on localhost, with a refusal in the query', async () => {
    const started = await login('implicit', `?error=access_denied&state=${state}`, {
      callbackUrls: ['http://localhost:0/callback'],
      finish: async () => ({ kind: 'access_denied' }),
    });
    const { tab } = await follow(started);
    expect(await tab.isVisible('main.stopped')).toBe(true);
    expect(started.finishes.map(({ kind }) => kind)).toEqual(['error']);
    await started.loopback.closed;
    await tab.close();
  });

  test('the bridge says when it has nothing, when it was refused, and when the answer belongs to another login', async () => {
    const started = await login('implicit', '', { finish: async () => ({ kind: 'state_mismatch' }) });
    const tab = await browser.newPage();
    await tab.goto(started.loopback.callbackUrl);
    expect(await tab.isVisible('#empty h1')).toBe(true);
    expect(started.finishes).toEqual([]);
    await tab.goto('about:blank');
    await tab.goto(`${started.loopback.callbackUrl}#access_token&something=that-is-refused&something=twice`);
    await tab.waitForSelector('#failed:not([hidden])');
    expect(await tab.isVisible('#failed h1')).toBe(true);
    expect((await history(tab)).join(' ')).not.toContain('that-is-refused');
    expect(started.finishes).toEqual([]);
    await tab.goto('about:blank');
    await tab.goto(`${started.loopback.callbackUrl}#access_token=evil&token_type=bearer&expires_in=9&state=other`);
    await tab.waitForURL(/\/done\//);
    expect(await tab.isVisible('main.stopped')).toBe(true);
    await started.loopback.closed;
    await tab.close();
  });

  test.each(['prefetch', 'prerender'])('a %s of the redirect changes nothing, and the tab is told', async (kind) => {
    const started = await login('code', '');
    const target = `${started.loopback.callbackUrl}?code=the-code&state=${state}`;
    const rules = JSON.stringify({ [kind]: [{ urls: [target], eagerness: 'immediate' }] });
    const page = await standIn(`<a id=go href="${target}">go</a><script type=speculationrules>${rules}</script>`);
    const tab = await browser.newPage();
    const tools = await tab.context().newCDPSession(tab);
    const refused = new Promise((resolve) =>
      tools.on('Preload.prefetchStatusUpdated', ({ status }) => status === 'Failure' && resolve(status)),
    );
    await tools.send('Preload.enable');
    await tab.goto(page.origin);
    expect(await refused).toBe('Failure');
    expect(started.finishes).toEqual([]);
    await tab.click('#go');
    await tab.waitForURL(/\/done\//);
    expect(await tab.textContent('main.done h1')).toContain('Sammy');
    await started.loopback.closed;
    await tab.close();
    page.server.close();
  });

  test('the redirect in a second tab shows the same outcome', async () => {
    const started = await login('code', `?code=the-code&state=${state}`, {
      finish: () => pause(500, { kind: 'signed_in', name: 'Sammy' } as const),
    });
    const [first, second] = [await browser.newPage(), await browser.newPage()];
    const target = `${started.loopback.callbackUrl}?code=the-code&state=${state}`;
    await Promise.all([first.goto(target), second.goto(target)]);
    for (const tab of [first, second]) expect(await tab.textContent('main.done h1')).toContain('Sammy');
    expect(started.finishes).toHaveLength(1);
    await started.loopback.closed;
    await Promise.all([first.close(), second.close()]);
  });

  test('rules 17 and 18: another site can end the login neither by picture, frame, fetch nor form', async () => {
    const started = await login('code', `?code=the-code&state=${state}`);
    const target = `${started.loopback.callbackUrl}?code=evil&state=other`;
    const evil = await standIn(`<img src="${target}"><iframe src="${target}"></iframe><iframe name=f></iframe>
<form method=post target=f action="${target}"></form><script src="${target}"></script><link rel=prefetch href="${target}">
<script>document.forms[0].submit(); fetch('${target}').catch(() => {}); fetch('${target}', { mode: 'no-cors' }); new WebSocket('${target.replace('http', 'ws')}')</script>`);
    const tab = await browser.newPage();
    await tab.goto(evil.origin, { waitUntil: 'load' });
    await tab.waitForTimeout(300);
    expect(started.finishes).toEqual([]);
    await tab.close();
    evil.server.close();
    const { tab: genuine } = await follow(started);
    expect(await genuine.textContent('main.done h1')).toContain('Sammy');
    await started.loopback.closed;
    await genuine.close();
  });
});
