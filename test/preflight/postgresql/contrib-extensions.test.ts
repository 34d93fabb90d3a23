import { expect, test } from 'vitest';
import { contribStatus } from '../../../src/preflight/postgresql/contrib-extensions.ts';
import { startPostgres } from '../../fixtures/postgres.ts';

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
