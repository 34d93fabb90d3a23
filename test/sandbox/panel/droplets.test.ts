import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { callApi, sandboxFor, send, signIn, TOMAS, tokenFor, userOf } from '../requests.ts';
import { pageText } from './page-text.ts';

async function openFixture() {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, TOMAS);
  const team = userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
  const show = async (query = ''): Promise<string> =>
    (await send(sandbox.ready.auth_url, `/panel/droplets${query}`, { headers: { cookie } })).body;
  return { sandbox, team, show };
}

describe('the droplets of the control panel', () => {
  it('are those of the person, or of a selected team', async () => {
    const { team, show } = await openFixture();
    const own = await show();
    expectGolden('sandbox', pageText(own), 'own');
    expect(own).toMatch(/<span>scratch<\/span><\/th>/);
    expect(own).not.toContain('build-01');
    const shared = await show(`?account=${team}`);
    expectGolden('sandbox', pageText(shared), 'team');
    expect(shared).toMatch(/aria-current="true">Harbour Works</);
    expect(shared).toMatch(/build-01[\s\S]*build-02/);
  });

  it('are one droplet alone by its id, of whichever account has it', async () => {
    const { sandbox, team, show } = await openFixture();
    const [first] = sandbox.world.droplets.of(team);
    const page = await show(`?droplet=${first?.id}`);
    expect(page).toMatch(new RegExp(`aria-current="true">Harbour Works<[\\s\\S]*>${first?.id}<`));
    expect(page.match(/<th scope="row"/g)).toHaveLength(1);
    expect(await show('?droplet=%3Cscript%3E')).not.toContain('<th scope="row"');
  });

  it('do not include those of other accounts', async () => {
    const { sandbox, show } = await openFixture();
    const other = sandbox.ready.users[0]?.uuid;
    const page = await show(`?account=${other}`);
    expect(page).toContain('scratch');
    expect(page).not.toContain('web-01');
  });

  it('are new, then active, by the virtual clock', async () => {
    const { sandbox, show } = await openFixture();
    const { access_token } = await tokenFor(sandbox, { user: TOMAS });
    sandbox.world.setClock((clock, systemTime) => ({ ...clock, frozenAt: systemTime }));
    await callApi(sandbox, access_token, 'POST', '/v2/droplets', {
      name: 'fresh',
      size: '1gb',
      image: 'debian-12-x64',
    });
    expect(await show()).toMatch(/fresh<\/span><\/th><td[^>]*><span>\d+<\/span><\/td><td[^>]*><span><span[^>]*>new</);
    sandbox.world.setClock((clock) => ({ ...clock, frozenAt: (clock.frozenAt ?? 0) + 5_000 }));
    expect(await show()).toMatch(
      /fresh<\/span><\/th><td[^>]*><span>\d+<\/span><\/td><td[^>]*><span><span[^>]*>active</,
    );
  });

  it('are shown in pages of 50 with links that keep the account', async () => {
    const { sandbox, team, show } = await openFixture();
    const names = Array.from({ length: 120 }, (_, at) => `n${at + 1}`);
    const spec = { region: 'fra1', size: '1gb', image: 1, tags: [], features: [] };
    sandbox.world.droplets.create(team, names, spec);
    const second = await show(`?account=${team}&page=2`);
    expect(second.match(/<th scope="row"/g)).toHaveLength(50);
    expect(second).toContain('Page 2 of 3');
    expect(second).toContain(`href="/panel/droplets?account=${team}&amp;page=3"`);
    expect(second).toContain('<span>n49</span></th>');
    expect((await show(`?account=${team}&page=99`)).match(/<th scope="row"/g)).toHaveLength(22);
    expect(await show('?page=x')).not.toContain('Page ');
  });
});
