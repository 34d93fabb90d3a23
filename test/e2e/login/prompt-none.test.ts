import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import type { Person } from '../../fixtures/sandbox.ts';
import { type LoginFixture, useLoginFixture } from './login-fixture.ts';
import { type ErrorReport, errorOf, type Machine } from './machine.ts';
import type { Visitor } from './visitor.ts';

describe.skipIf(lacks('chromium'))('--prompt none', () => {
  const fixture = useLoginFixture();

  test('signed in and authorized before: a new session without a page', async () => {
    const { maya, sandbox, ...here } = fixture();
    const machine = here.machine();
    const visitor = await loggedIn(fixture(), machine, maya);
    const before = await machine.accessToken();
    await here.forgetRequests();
    const stopsBefore = visitor.stops.length;
    const login = await machine.login(['--prompt', 'none', '--account-hint', maya.uuid.slice(0, 6), '-o', 'json']);
    const query = new URL(login.authorizationUrl).searchParams;
    expect([query.get('prompt'), query.get('i')]).toEqual(['none', maya.uuid.slice(0, 6)]);
    await visitor.open(login.authorizationUrl);
    expect(await visitor.told()).toContain('Maya Lindqvist');
    expect((await login.ended).json()).toMatchObject({ email: maya.email, scope: 'read' });
    expect(visitor.stops.slice(stopsBefore)).toEqual([visitor.page.url()]);
    expect(await here.requests('POST /v1/oauth/authorize')).toEqual([]);
    expect(await machine.accessToken()).not.toBe(before);
    expect((await machine.run(['auth', 'status', '--check', '-o', 'json'])).json()).toMatchObject({ state: 'valid' });
  });

  test('the hint is known by its digits, whatever their case, and may be left out', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await loggedIn(fixture(), machine, maya);
    for (const hint of [['--account-hint', maya.uuid.slice(0, 6).toUpperCase()], []]) {
      const login = await machine.login(['--prompt', 'none', ...hint]);
      await visitor.open(login.authorizationUrl);
      await visitor.told();
      expect((await login.ended).code).toBe(0);
    }
  });

  test('authorized before, but the hint is of another account: exit 4 login_required', async () => {
    const { maya, tomas, ...here } = fixture();
    const machine = here.machine();
    const visitor = await loggedIn(fixture(), machine, maya);
    const before = await machine.accessToken();
    const report = await refused(machine, visitor, ['--account-hint', tomas.uuid.slice(0, 6)]);
    expect(report).toMatchObject({ code: 'login_required', exit_code: 4 });
    expect(report.hint).toContain('cloudctl auth login');
    // The session that was there is not touched by a login that failed.
    expect(await machine.accessToken()).toBe(before);
  });

  test('signed in, not authorized: exit 4 consent_required', async () => {
    const { tomas, sandbox, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    await visitor.open(`${sandbox.panel_url}/applications`);
    await visitor.signIn(tomas);
    expect(await visitor.text()).not.toContain('Sandbox CLI');
    const report = await refused(machine, visitor, ['--account-hint', tomas.uuid.slice(0, 6)]);
    expect(report).toMatchObject({ code: 'consent_required', exit_code: 4 });
    expect(report.hint).toContain('cloudctl auth login');
    expect(machine.keepsSession()).toBe(false);
  });

  test('authorized for less than is asked now: exit 4 consent_required', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await loggedIn(fixture(), machine, maya);
    const report = await refused(machine, visitor, ['--scope', 'read write']);
    expect(report).toMatchObject({ code: 'consent_required', exit_code: 4 });
  });

  test('not signed in: exit 4 login_required', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const report = await refused(machine, visitor, ['--account-hint', maya.uuid.slice(0, 6)]);
    expect(report).toMatchObject({ code: 'login_required', exit_code: 4 });
    expect(report.hint).toContain('cloudctl auth login');
    expect(machine.keepsSession()).toBe(false);
  });

  test.each([
    ['--account-hint with the implicit flow', ['--flow', 'implicit', '--account-hint', 'abcdef']],
    ['a hint that is not 6 hexadecimal digits', ['--prompt', 'none', '--account-hint', 'abcdeg']],
    ['a prompt that does not exist', ['--prompt', 'login']],
  ])('%s is exit 2 before any page', async (_, words) => {
    const ran = await fixture()
      .machine()
      .run(['auth', 'login', ...words]);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).not.toContain('/v1/oauth/authorize');
  });
});

/** A browser in which the person is signed in and has authorized the application to read. */
async function loggedIn(fixture: LoginFixture, machine: Machine, person: Person): Promise<Visitor> {
  const visitor = await fixture.visitor();
  const login = await machine.login();
  await visitor.logIn(login.authorizationUrl, person);
  await visitor.told();
  expect((await login.ended).code).toBe(0);
  return visitor;
}

/** The report of a login that must fail without a page of the authorization server and without an exchange. */
async function refused(machine: Machine, visitor: Visitor, words: readonly string[]): Promise<ErrorReport> {
  const stopsBefore = visitor.stops.length;
  const login = await machine.login(['--prompt', 'none', ...words, '-o', 'json']);
  await visitor.open(login.authorizationUrl);
  expect(await visitor.told()).toMatch(/\bnot signed\b/);
  expect(visitor.stops.slice(stopsBefore)).toEqual([visitor.page.url()]);
  const ran = await login.ended;
  expect(ran.code).toBe(4);
  expect(ran.stdout).toBe('');
  return errorOf(ran);
}
