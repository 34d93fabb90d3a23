import { describe, expect, test } from 'vitest';
import { head, protectedAnswer, type RawAnswer } from '../auth/loopback/raw-client.ts';
import { errorOf } from '../e2e/login/machine.ts';
import { accessToken, authorityFor } from './authority.ts';
import { navigation, startVictimMachine, type Victim } from './victim.ts';

/** A login by the implicit flow, with the nonce of its bridge page. */
async function bridged(): Promise<{ readonly victim: Victim; readonly nonce: string; readonly page: RawAnswer }> {
  const victim = await (await startVictimMachine(await authorityFor())).login(['--flow', 'implicit', '-o', 'json']);
  const page = await victim.get('/callback', ...navigation);
  expect(page.status).toBe(200);
  const nonce = /nonce["']?\s*[:=]\s*["']([A-Za-z0-9_-]{16,})["']/.exec(page.body)?.[1] ?? '';
  expect(nonce).not.toBe('');
  return { victim, nonce, page };
}

const fragmentOf = (victim: Victim): string =>
  `access_token=${accessToken}&token_type=bearer&expires_in=2592000&state=${victim.state}`;

/** A relay request as the bridge page sends it, changed line by line. */
function relay(victim: Victim, body: object, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const { target = '/callback/fragment', method = 'POST', ...headers } = changes;
  const text = JSON.stringify(body);
  const lines = Object.entries({
    Host: victim.host,
    Origin: `http://${victim.host}`,
    'Content-Type': 'application/json',
    'Sec-Fetch-Site': 'same-origin',
    'Sec-Fetch-Mode': 'cors',
    'Sec-Fetch-Dest': 'empty',
    'Content-Length': String(Buffer.byteLength(text)),
    ...headers,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${head(method, target, ...lines)}${text}`;
}

describe('the implicit flow', () => {
  test('rule 30: it is opt-in and warned of; the bridge alone may run its script and speak to its own origin', async () => {
    const { victim, page } = await bridged();
    protectedAnswer(page);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toMatch(/script-src 'sha256-[^']+'/);
    expect(page.body).not.toMatch(/src=|href="http/);
    const other = await victim.get('/');
    expect(other.headers.get('content-security-policy')).not.toContain('connect-src');
    victim.running.kill('SIGINT');
    const ran = await victim.running.ended;
    expect(ran.stderr.toLowerCase()).toContain('warning');
  });

  test('rule 30: an error in the query is judged at once', async () => {
    const { victim } = await bridged();
    const answer = await victim.get(`/callback?error=access_denied&state=${victim.state}`, ...navigation);
    expect(answer.status).toBe(303);
    await victim.get(answer.headers.get('location') ?? '', ...navigation);
    expect(errorOf(await victim.running.ended)).toMatchObject({ code: 'access_denied', exit_code: 4 });
  });

  test('rule 31: the relay hears its own page alone; the login stays armed and its own page ends it', async () => {
    const { victim, nonce } = await bridged();
    const body = { nonce, fragment: fragmentOf(victim) };
    const rows: readonly (readonly [string, string, number])[] = [
      ['GET', relay(victim, body, { method: 'GET' }), 405],
      ['PUT', relay(victim, body, { method: 'PUT' }), 405],
      ['a form', relay(victim, body, { 'Content-Type': 'application/x-www-form-urlencoded' }), 403],
      ['text, as a form can send it', relay(victim, body, { 'Content-Type': 'text/plain' }), 403],
      ['no type', relay(victim, body, { 'Content-Type': undefined }), 403],
      ['no origin', relay(victim, body, { Origin: undefined }), 403],
      ['another origin', relay(victim, body, { Origin: 'https://evil.example' }), 403],
      ['null origin', relay(victim, body, { Origin: 'null' }), 403],
      ['another port', relay(victim, body, { Origin: 'http://127.0.0.1:1' }), 403],
      ['same site only', relay(victim, body, { 'Sec-Fetch-Site': 'same-site' }), 403],
      ['cross site', relay(victim, body, { 'Sec-Fetch-Site': 'cross-site' }), 403],
      ['another host', relay(victim, body, { Host: 'evil.example' }), 421],
      ['no nonce', relay(victim, { fragment: body.fragment }), 400],
      ['another nonce', relay(victim, { ...body, nonce: 'x'.repeat(nonce.length) }), 403],
      ['no JSON', relay(victim, body).replace(/\{.*$/s, 'x'.repeat(JSON.stringify(body).length)), 400],
      ['a token in the query', relay(victim, body, { target: `/callback/fragment?${body.fragment}` }), 400],
      ['any query', relay(victim, body, { target: '/callback/fragment?x=1' }), 400],
    ];
    for (const [name, bytes, status] of rows) {
      const answer = await victim.raw(bytes);
      const refused = status === 404 ? [400, 403, 404] : [status];
      expect({ name, refused: refused.includes(answer.status), status: answer.status }).toMatchObject({
        name,
        refused: true,
      });
      protectedAnswer(answer);
    }
    expect((await victim.raw(relay(victim, body))).status).toBe(200);
    expect((await victim.running.ended).code).toBe(0);
  });

  test.each([
    ['another state', 'state_mismatch', (victim: Victim) => fragmentOf(victim).replace(victim.state, 'A'.repeat(43))],
    ['no state', 'state_mismatch', (victim: Victim) => fragmentOf(victim).replace(/&state=.*$/, '')],
    ['token and error', 'malformed_response', (victim: Victim) => `${fragmentOf(victim)}&error=access_denied`],
    ['an error', 'access_denied', (victim: Victim) => `error=access_denied&state=${victim.state}`],
  ] as const)('rule 31: %s in the fragment ends the login with %s, nothing stored', async (_, wanted, fragment) => {
    const { victim, nonce } = await bridged();
    await victim.raw(relay(victim, { nonce, fragment: fragment(victim) }));
    const error = errorOf(await victim.running.ended);
    expect(error).toMatchObject({ code: wanted, exit_code: 4 });
  });

  test('rule 31: a second relay is refused as already finished', async () => {
    const { victim, nonce } = await bridged();
    const bytes = relay(victim, { nonce, fragment: fragmentOf(victim) });
    const answers = await Promise.all(Array.from({ length: 10 }, () => victim.raw(bytes)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410 || status === 0)).toHaveLength(9);
    expect((await victim.running.ended).code).toBe(0);
  });

  test('rule 32: the whole address with its fragment can be pasted instead', async () => {
    const computer = await startVictimMachine(await authorityFor());
    const victim = await computer.login(['--flow', 'implicit', '--paste']);
    victim.running.write(`${computer.callbackUrl}#${fragmentOf(victim)}\n`);
    expect((await victim.running.ended).code).toBe(0);
  });

  test('rules 20 and 31: a token in the query of the callback is never taken', async () => {
    const { victim } = await bridged();
    const answer = await victim.get(`/callback?${fragmentOf(victim)}`, ...navigation);
    if (answer.status === 303) {
      await victim.get(answer.headers.get('location') ?? '', ...navigation);
      expect(errorOf(await victim.running.ended).code).toBe('malformed_response');
      return;
    }
    expect(answer.status).toBe(400);
    victim.running.kill('SIGINT');
    expect((await victim.running.ended).code).toBe(130);
  });
});
