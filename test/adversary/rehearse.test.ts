import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../fixtures/postgres.ts';
import { type Canaries, makeCanaries, strangeSuperusers } from './canaries.ts';

/** Objects of the source are created and filled on another server; what runs there must not run as its superuser. */
const settings = { ...ready, wal_retrieve_retry_interval: '500ms' };
const accepted = ['always-triggers', 'time-checks', 'replica-identity', 'removed-types', 'role-readonly', 'supers'];

let folders: Folders;
let canaries: Canaries;
let source: Postgres;
let target: Postgres;

describe.each([
  { kind: 'owner', database: 'tables', from: 15, to: 18 },
  { kind: 'owner', database: 'tables', from: 17, to: 17 },
  { kind: 'superuser', database: 'shop', from: 14, to: 15 },
  { kind: 'superuser', database: 'shop', from: 16, to: 18 },
] as const)('a hostile $kind, from $from to $to', ({ kind, database, from, to }) => {
  beforeAll(async () => {
    folders = makeFolders();
    canaries = makeCanaries();
    [source, target] = await Promise.all([
      startPostgres({ version: from, settings }),
      startPostgres({ version: to, settings }),
    ]);
    canaries.infect(source, `hostile-${kind}.sql`);
    await dropOthers();
    if (kind === 'superuser') await dropRefused();
  });

  afterAll(async () => {
    await Promise.all([source?.stop(), target?.stop()]);
    canaries?.remove();
    folders?.remove();
  });

  beforeEach(() => canaries.reset());

  /** Databases that a rehearsal of `database` does not need. */
  async function dropOthers(): Promise<void> {
    const rows = await source.query<{ drop: string }>(
      `SELECT format('DROP DATABASE %I', datname) AS drop FROM pg_database
       WHERE NOT datistemplate AND datname NOT IN ('postgres', '${database}')`,
    );
    for (const { drop } of rows) await source.query(drop);
  }

  /** Objects that only a superuser can create on the target: a rehearsal that is not allowed to ends there. */
  async function dropRefused(): Promise<void> {
    const triggers = await source.query<{ drop: string }>(
      "SET adversary.setup = 'on'; SET search_path = pg_catalog; SELECT format('DROP EVENT TRIGGER %I', evtname) AS drop FROM pg_event_trigger",
      database,
    );
    for (const { drop } of triggers) await source.query(`SET adversary.setup = 'on'; ${drop}`, database);
    await source.query(
      "SET adversary.setup = 'on'; DROP FUNCTION public.leak; DROP FUNCTION evil.fire_event",
      database,
    );
    if (from >= 17) await source.query("SET adversary.setup = 'on'; DROP FUNCTION evil.prepare_session", database);
  }

  const nobodySang = async () => {
    const lines = canaries.asSuperuser();
    // A superuser of the source may run what he wants there.
    expect(kind === 'owner' ? lines : lines.filter((line) => !line.includes(`port=${source.ownPort} `))).toEqual([]);
    if (kind === 'owner') expect(canaries.asSomebody(source)).toEqual([]);
    // It did run there, as the owner of the target database.
    expect(canaries.asSomebody(target)).not.toEqual([]);
    expect(await strangeSuperusers(target)).toEqual([]);
    expect(await target.query('SELECT setrole::regrole, setconfig FROM pg_db_role_setting')).toEqual([]);
    expect(canaries.wasExecuted()).toBe(false);
  };
  const rehearse = async (...more: readonly string[]) => {
    const ran = await run(
      [
        'db',
        'rehearse',
        '--source',
        source.url(database),
        '--disable-ssl',
        '--into',
        target.url('postgres'),
        '--yes',
        '--stall-timeout',
        '10s',
        '--accept',
        accepted.join(','),
        ...more,
      ],
      {
        folders,
        limit: 110_000,
        env: { PGPASSWORD: source.password, CLOUDCTL_REHEARSE_INTO_PASSWORD: target.password },
      },
    );
    // It came as far as the target, whatever it found there.
    expect([0, 1], ran.stderr).toContain(ran.code);
    return ran;
  };

  test(`a rehearsal of ${kind} from ${from} to ${to}`, async () => {
    await rehearse();
    await nobodySang();
  });

  // One pair for each way in which a schema is copied: by pg_dump, and from the catalogs.
  if (from !== 17 && from !== 14) {
    test(`a dump of ${kind} from ${from} to ${to}`, async () => {
      await rehearse('--method', 'dump');
      await nobodySang();
    });
  }
});
