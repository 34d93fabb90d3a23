import { expect, test } from 'vitest';
import { contribStatus } from '../../../../src/db/preflight/postgresql/target.ts';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

/** Procedural languages are packages of their own. */
const languages = /^(plperlu?|plpgsql|plpython3u|pltclu?)$/;

test.each([14, 15, 16, 17, 18] as const)(
  'the contrib modules of PostgreSQL %i are those that the server offers',
  async (version) => {
    const server = await startPostgres({ version });
    const rows = await server.query('SELECT DISTINCT name, trusted FROM pg_available_extension_versions ORDER BY name');
    const offered = rows.map(({ name, trusted }) => ({
      name: String(name),
      trusted: trusted === true || trusted === 't',
    }));
    const contrib = offered.filter(({ name }) => !languages.test(name));
    expect(contrib.length).toBeGreaterThan(40);
    expect(contrib.map(({ name }) => [name, contribStatus(name, version)])).toEqual(
      contrib.map(({ name, trusted }) => [name, trusted ? 'trusted' : 'untrusted']),
    );
    const gone = ['adminpack', 'old_snapshot', 'pg_walinspect', 'pg_logicalinspect', 'chkpass', 'timetravel'];
    for (const name of gone)
      expect({ name, isOffered: contribStatus(name, version) !== 'absent' }).toEqual({
        name,
        isOffered: offered.some((one) => one.name === name),
      });
    expect(contribStatus('postgis', version)).toBe('other');
  },
);

test('an extension that a later release no longer ships is a premise until the version is known, then a blocker', async () => {
  const server = await startPostgres({ version: 15, settings: ready, setup: ['CREATE EXTENSION adminpack'] });
  const verdictFor = async (targetVersion: string | undefined) => {
    const { verdict, proven, premises, databases } = await preflightServer({ ...server, options: { targetVersion } });
    return {
      verdict,
      proven,
      premises: premises.map(({ id }) => id),
      reasons: databases.flatMap((one) => one.reasons),
    };
  };
  expect(await verdictFor(undefined)).toEqual({
    verdict: 'continuous',
    proven: false,
    premises: ['version-not-newer', 'extensions'],
    reasons: [],
  });
  expect(await verdictFor('17')).toEqual({ verdict: 'blocked', proven: true, premises: [], reasons: ['extensions'] });
  expect(await verdictFor('16')).toMatchObject({ verdict: 'continuous', premises: ['extensions'] });
  const told = await preflightServer({ ...server, options: { targetVersion: '16', targetExtensions: ['adminpack'] } });
  expect(told).toMatchObject({ verdict: 'continuous', proven: true, premises: [] });
});
