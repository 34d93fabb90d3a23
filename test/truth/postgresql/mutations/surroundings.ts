import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Major } from '../../../../scripts/postgres.mjs';
import { postgresClient } from '../../../../scripts/postgres-client.mjs';
import { quoteShellArg } from '../../../../src/base/text.ts';
import { startTarget } from '../../../db/engine/servers.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { plainLogin, plainLoginSetup } from '../case.ts';
import { createRandomSource, type RandomSource } from './random-source.ts';

/** What the tables of one database have in common: servers, settings, extensions. */
export interface Surroundings {
  readonly from: Major;
  readonly to: Major;
  /** Of the database, of the role that migrates, and of another role. */
  readonly settings: readonly string[];
  /** The same for the session that stores the rows, whatever its role. */
  readonly session: readonly string[];
  readonly extensions: readonly string[];
  readonly zones: keyof typeof zones;
  /** The login of the target has no SUPERUSER. */
  readonly plainTarget: boolean;
}

/** Zones that the target does not have, and zones that have the rules of another one there. */
const zones = {
  same: { missing: [], changed: {} },
  missing: { missing: ['US', 'Japan', 'PRC', 'Asia/Calcutta'], changed: {} },
  changed: { missing: ['Etc/UCT'], changed: { 'America/Mexico_City': 'America/Chicago', 'Asia/Tokyo': 'Asia/Seoul' } },
} as const;

/** Repeated by the seed and the number of the batch. */
export function surroundingsOf(seed: number, batch: number): Surroundings {
  const random = createRandomSource(Math.imul(seed, 7_919) + batch);
  const from = random.pick([14, 15, 15, 16, 17, 18] as const);
  const plainTarget = random.oneIn(3);
  const to = random.pick(([15, 17, 18] as const).filter((one) => one >= Math.max(from, plainTarget ? 16 : 15)));
  const chosen = random.oneIn(4) ? [] : Array.from({ length: 1 + random.below(3) }, () => random.pick(settings));
  const place = ['DATABASE mutated', 'ROLE postgres', 'ROLE postgres IN DATABASE mutated', 'ROLE shop'];
  return {
    from,
    to,
    settings: chosen.map((setting) => `ALTER ${random.pick(place)} SET ${setting}`),
    session: chosen.map((setting) => `SET ${setting}`),
    extensions: extensionsOf(random),
    zones: random.pick(['same', 'same', 'missing', 'changed']),
    plainTarget,
  };
}

/** All of the newest version, or some of the oldest that still has a script. */
function extensionsOf(random: RandomSource): readonly string[] {
  const isOld = random.oneIn(2);
  return Object.entries(oldest).map(
    ([name, version]) =>
      `CREATE EXTENSION ${name} SCHEMA public${isOld && random.oneIn(2) ? ` VERSION '${version}'` : ''}`,
  );
}

/** Trusted, so that a login without SUPERUSER may create them. */
const oldest = {
  hstore: '1.4',
  cube: '1.2',
  intarray: '1.2',
  pg_trgm: '1.3',
  citext: '1.4',
  ltree: '1.1',
  unaccent: '1.1',
  fuzzystrmatch: '1.1',
} as const;

const settings = [
  "timezone = 'Asia/Tokyo'",
  "timezone = 'America/Mexico_City'",
  "timezone = 'US/Pacific'",
  "datestyle = 'SQL, DMY'",
  "datestyle = 'German'",
  "intervalstyle = 'iso_8601'",
  'extra_float_digits = -3',
  'quote_all_identifiers = on',
  "bytea_output = 'escape'",
  'standard_conforming_strings = off',
  'array_nulls = off',
  'transform_null_equals = on',
  "app.name = 'shop'",
  "default_text_search_config = 'pg_catalog.german'",
  "timezone_abbreviations = 'Australia'",
  "work_mem = '8MB'",
  'check_function_bodies = off',
  'row_security = off',
  'plpgsql.variable_conflict = use_column',
  'pg_trgm.similarity_threshold = 0.9',
] as const;

/** Servers for batches that run one after the other. */
export function openServers() {
  const started = new Map<string, Promise<Postgres>>();
  const once = (key: string, start: () => Promise<Postgres>) => {
    const found = started.get(key) ?? start();
    started.set(key, found);
    return found;
  };
  return {
    async acquire({ from, to, zones: name, plainTarget }: Surroundings) {
      const [source, target] = await Promise.all([
        once(`source ${from}`, () => startSource(from)),
        once(`target ${to} ${name}`, () => startTargetWith(to, name)),
      ]);
      return { source, target, targetVersion: to, targetLogin: plainTarget ? plainLogin : undefined };
    },
    close: async () => void (await Promise.all([...started.values()].map(async (server) => (await server).stop()))),
  };
}

/** A folder with a pg_dump that reads every source: that of this machine may be older, and the engine then copies less. */
export function makePgDumpFolder(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-pg-dump-'));
  const words = (postgresClient('pg_dump', 18) ?? []).map(quoteShellArg);
  writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
  return {
    path: [folder, process.env.PATH].join(delimiter),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function startSource(version: Major): Promise<Postgres> {
  return startPostgres({
    version,
    direct: true,
    settings: { ...ready, max_wal_senders: 40, max_replication_slots: 40 },
    setup: ['CREATE ROLE shop'],
  });
}

async function startTargetWith(version: Major, name: keyof typeof zones): Promise<Postgres> {
  const { missing, changed } = zones[name];
  const target = await startTarget({
    version,
    direct: true,
    settings: { max_sync_workers_per_subscription: 8 },
    setup: plainLoginSetup(version),
    withoutZones: missing,
  });
  const folder = join(target.folder, 'native/share/postgresql/timezone');
  // A session reads a zone when it first uses it.
  for (const [zone, other] of Object.entries(changed)) copyFileSync(join(folder, other), join(folder, zone));
  return target;
}
