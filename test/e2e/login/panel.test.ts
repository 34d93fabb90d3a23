import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { errorOf } from './machine.ts';

describe.skipIf(lacks('chromium'))('an application that the person revokes in the panel', () => {
  const fixture = useLoginFixture();

  test('has no session: the next command is exit 4 with a hint to log in, and prompt none is consent_required', async () => {
    const { tomas, team, sandbox, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--scope', 'read write']);
    await visitor.logIn(login.authorizationUrl, tomas, team.name);
    await visitor.told();
    expect((await login.ended).code).toBe(0);
    expect((await machine.run(['droplets', 'list', '-o', 'json'])).code).toBe(0);

    await visitor.open(sandbox.panel_url);
    await visitor.page.getByRole('link', { name: 'My applications' }).first().click();
    expect(await visitor.text()).toContain('Sandbox CLI');
    expect(await visitor.text()).toContain(team.name);
    await visitor.page.getByRole('button', { name: 'Revoke Sandbox CLI' }).click();
    await visitor.page.getByRole('button', { name: 'Revoke Sandbox CLI' }).waitFor({ state: 'detached' });

    const plain = await machine.run(['droplets', 'list']);
    expect(plain.code).toBe(4);
    expect(plain.stdout).toBe('');
    expect(plain.stderr).toMatch(/auth login/);
    const json = await machine.run(['actions', 'list', '-o', 'json']);
    expect(json.code).toBe(4);
    expect(errorOf(json)).toMatchObject({ code: 'needs_login', exit_code: 4 });
    expect((await machine.run(['auth', 'status', '--check', '-o', 'json'])).code).toBe(4);

    const silent = await machine.login(['--prompt', 'none', '--scope', 'read write', '-o', 'json']);
    await visitor.open(silent.authorizationUrl);
    await visitor.told();
    const refused = await silent.ended;
    expect([refused.code, errorOf(refused).code]).toEqual([4, 'consent_required']);

    const again = await machine.login();
    await visitor.open(again.authorizationUrl);
    await visitor.authorize(team.name);
    await visitor.told();
    expect((await again.ended).code).toBe(0);
    expect((await machine.run(['droplets', 'list', '-o', 'json'])).code).toBe(0);
  });

  test('between consent and exchange has an invalid code: exit 4 invalid_grant', async () => {
    const { maya, sandbox, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json']);
    await visitor.open(login.authorizationUrl);
    await visitor.signIn(maya);
    const callback = await visitor.authorizeWithoutFollowing();
    await visitor.open(`${sandbox.panel_url}/applications`);
    await visitor.page.getByRole('button', { name: 'Revoke Sandbox CLI' }).click();
    await visitor.page.getByRole('button', { name: 'Revoke Sandbox CLI' }).waitFor({ state: 'detached' });
    await visitor.open(callback);
    await visitor.told();
    const ran = await login.ended;
    expect([ran.code, errorOf(ran).code]).toEqual([4, 'invalid_grant']);
    expect(machine.keepsSession()).toBe(false);
  });
});
