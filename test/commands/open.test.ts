import { expect, it } from 'vitest';
import { recordSandbox } from '../../src/config/sandboxes.ts';
import { runCliCommandLine } from '../../src/main.ts';
import { systemBrowser } from '../../src/platform/browser.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor, send, signIn, TOMAS } from '../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText } from './run-cloudctl.ts';

async function onSandbox() {
  const sandbox = await sandboxFor();
  const host = testHost({ env: { DISPLAY: ':0' } });
  await seedSession(host, sandbox, { user: TOMAS });
  recordSandbox(host.folders.state, sandbox.ready);
  return { sandbox, host, panel: sandbox.ready.panel_url };
}

const openIn = (host: TestHost, words: readonly string[], env = {}) =>
  runCloudctl(host, ['open', ...words], { browse: () => undefined, env: { ...host.env, ...env } });

it('opens the panel, a list, a droplet and a migration', async () => {
  const { host, panel } = await onSandbox();
  const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
  const cases = [
    [[], panel],
    [['applications'], `${panel}/applications`],
    [['droplet', '7'], `${panel}/droplets?droplet=7`],
    [['7'], `${panel}/droplets?droplet=7`],
    [[cluster], `${panel}/migrations#cluster-${cluster}`],
    [['migration', cluster.toUpperCase()], `${panel}/migrations#cluster-${cluster}`],
  ] as const;
  for (const [words, url] of cases) {
    const ran = await openIn(host, words);
    expect([ran.code, ran.out, ran.host.opened]).toEqual([0, '', [url]]);
    expect(ran.err).toContain(url);
  }
});

it('a name is looked up, and the page shows that droplet', async () => {
  const { host, sandbox } = await onSandbox();
  const { out } = await runCloudctl(host, ['open', 'droplet', 'scratch', '--print']);
  const [droplet] = (await runCloudctl(host, ['droplets', 'list', 'scratch', '-o', 'json'])).json<{ id: number }[]>();
  expect(out).toBe(`${sandbox.ready.panel_url}/droplets?droplet=${droplet?.id}\n`);
  const cookie = await signIn(sandbox, TOMAS);
  const { pathname, search } = new URL(out.trim());
  expect((await send(sandbox.ready.auth_url, `${pathname}${search}`, { headers: { cookie } })).body).toContain(
    'scratch',
  );
});

it('--print prints the URL in each format and sends no request', async () => {
  const { host, sandbox, panel } = await onSandbox();
  expect((await runCloudctl(host, ['open', '--print'])).out).toBe(`${panel}\n`);
  expect((await runCloudctl(host, ['open', '--print', '-o', 'json'])).json()).toEqual({ url: panel });
  expect(await recordedRequests(sandbox)).toEqual([]);
});

it('a browser that fails is named, and the URL is printed', async () => {
  const { host, panel } = await onSandbox();
  const browser = systemBrowser({ PATH: process.env.PATH, BROWSER: 'no-such-browser' }, 'linux');
  const here = testHost({ beside: host });
  expect(await runCliCommandLine(['open'], { ...here, browser })).toBe(0);
  expect(here.out()).toBe(`${panel}\n`);
  expect(here.err()).toContain('no-such-browser');
});

it.each([
  ['no display', { DISPLAY: undefined }],
  ['CI', { CI: 'true' }],
])('with %s the URL is printed, and nothing is opened', async (_, env) => {
  const { host, panel } = await onSandbox();
  const ran = await openIn(host, [], env);
  expect([ran.code, ran.out, ran.host.opened]).toEqual([0, `${panel}\n`, []]);
  expect(ran.err).not.toBe('');
});

it('a page of another service is an error, its authorization server is opened', async () => {
  const host = testHost();
  host.writeConfig({ profiles: { default: { auth_url: 'https://cloud.example.com' } } });
  const ran = await runCloudctl(host, ['open', 'droplets']);
  expect([ran.code, ran.out]).toEqual([1, '']);
  expectGolden('open', stableText(ran));
  expect((await runCloudctl(host, ['open', '--print'])).out).toBe('https://cloud.example.com\n');
});

it.each([
  [['droplet']],
  [['droplet', ' ']],
  [['droplets', '7']],
  [['7', '8']],
  [['migration', '7']],
  [['volumes']],
  [['droplet', 'nothing-has-this-name']],
])('open %j is an error', async (words) => {
  const { host } = await onSandbox();
  const ran = await openIn(host, words);
  expect([ran.out, ran.host.opened]).toEqual(['', []]);
  expect(ran.code).toBe(words[1] === 'nothing-has-this-name' ? 1 : 2);
  expectGolden('open', stableText(ran));
});

it('without a profile it names what is missing', async () => {
  const ran = await runCloudctl(testHost(), ['open', '-o', 'json']);
  expect([ran.code, ran.error().code]).toEqual([2, 'usage']);
});
