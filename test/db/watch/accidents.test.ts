import { expect, onTestFinished, test } from 'vitest';
import {
  type Accident,
  type AccidentPlace,
  accidents,
  accidentTables,
  type ExpectedCause,
  logSettings,
} from '../../../scripts/accidents.mjs';
import type { EngineState } from '../../../src/db/engine/state.ts';
import {
  loadBaseline,
  pathOfBaseline,
  pathOfRecord,
  readRecord,
  storeBaseline,
  writeRecord,
} from '../../../src/db/watch/record.ts';
import type { StatusSample, StopCause } from '../../../src/db/watch/sample.ts';
import { addServiceStatus } from '../../../src/db/watch/service.ts';
import { observeBefore, recordNewSlots, sourceAddress } from '../../../src/db/watch/source.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import {
  beginMigration,
  makePostgresJob,
  objectsOn,
  postgresEndpointOf,
  startSource,
  startTarget,
  waitForState,
} from '../engine/servers.ts';
import { startWatchRun, watchedPostgres } from './run-watch.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const versions = [14, 15, 16, 17, 18] as const;

/** A migration that streams, as `db migrate` starts and records it. */
async function startAccidentRun(accident: Accident, version: (typeof versions)[number]) {
  const [source, target] = await Promise.all([
    startSource({ version }),
    startTarget({ version: 18, settings: logSettings }),
  ]);
  const remove = await accident.prepare?.({ target });
  onTestFinished(async () => {
    await remove?.();
    await Promise.all([source.stop(), target.stop()]);
  });
  await source.query(`CREATE ROLE mover SUPERUSER LOGIN PASSWORD '${source.password}'`);
  await source.query('CREATE DATABASE shop');
  await source.query(accidentTables, 'shop');
  const watched = watchedPostgres(source, 'shop', { username: 'mover' });
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const ignoreDbs = ['postgres'];
  const before = await observeBefore(watched, {
    ignoreDbs,
    now: Date.now,
    limit: 20_000,
    signal: new AbortController().signal,
  });
  const file = pathOfBaseline(folders.state, sourceAddress(watched), cluster);
  storeBaseline(file, before.baseline);
  const path = pathOfRecord(folders.state, sourceAddress(watched));
  writeRecord(path, {
    engine: 'postgresql',
    source: 'x',
    started: { at: Date.now(), cluster, id: 'm', identity: {} },
    before: before.slots ?? [],
  });
  const job = makePostgresJob(postgresEndpointOf(source, { username: 'mover' }), postgresEndpointOf(target), {
    ignoreDbs,
  });
  const migration = beginMigration(job);
  onTestFinished(async () => void (await migration.stop()));
  await waitForState(migration, ({ status }) => status === 'syncing');
  await recordNewSlots({ folders, clock: systemClock }, watched, ignoreDbs);
  const name = (await objectsOn(source)).find((one) => one.startsWith('slot '))?.slice('slot '.length) ?? '';
  const place: AccidentPlace = { source, target, database: 'shop', name };
  const startWatch = () => {
    const [record, baseline] = [readRecord(path), loadBaseline(file)];
    return startWatchRun(watched, {
      ...(record === undefined ? {} : { record }),
      ...(baseline === undefined ? {} : { baseline }),
      ignoreDbs,
    });
  };
  return { place, startWatch, migration };
}

const isCause = (cause: StopCause | undefined, { rule, object }: ExpectedCause, name: string): boolean =>
  cause?.rule === rule && (object === undefined || cause.object === object.replace('NAME', name));

/** The sample with what the service tells about the migration at that moment. */
const joined = (sample: StatusSample, state: EngineState): StatusSample =>
  addServiceStatus(
    sample,
    { kind: 'known', migration: { status: state.status, raw: { ...state } } },
    `cloudctl db status ${cluster}`,
  );

const isCi = !['', '0', 'false'].includes(process.env.CI ?? '');
/** Only root can mount the small disk. In CI nothing is left out. */
const possible = accidents.filter(({ prepare }) => isCi || prepare === undefined || process.getuid?.() === 0);

test.each(possible.map((accident, at) => ({ accident, version: versions[at % versions.length]!, id: accident.id })))(
  '$id on PostgreSQL $version is named by a watch from before and from after it',
  async ({ accident, version }) => {
    const { place, startWatch, migration } = await startAccidentRun(accident, version);
    const earlier = startWatch();
    await earlier.untilPhase('streaming');
    const undo = await accident.begin(place);
    const later = startWatch();
    for (const [watch, expected] of [
      [earlier, accident.source],
      [later, accident.later ?? accident.source],
    ] as const) {
      const found = await watch.until(expected.rule, ({ cause }) => isCause(cause, expected, place.name));
      expect(found.violations[0]).toEqual(found.cause);
      expect(found.cause?.fix.statement).not.toBe('');
      const { reported = expected } = accident;
      await watch.until(`${reported.rule} reported`, (sample) =>
        isCause(joined(sample, migration.state()).cause, reported, place.name),
      );
    }
    if (undo === undefined) return;
    await undo();
    for (const watch of [earlier, later]) await watch.until('the end of the cause', ({ cause }) => cause === undefined);
  },
);
