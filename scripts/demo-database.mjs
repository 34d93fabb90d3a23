import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from './postgres.mjs';
import { runSql, sectionsOf, toldIn } from './psql.mjs';

/**
 * The second story: a small PostgreSQL that is not ready to be migrated, what is wrong with it, the cure, and the start.
 * @param command runs cloudctl with these words, shown as typed, and checks its exit code
 */
export async function databaseStory({ clusters, folder, tell, command }) {
  const cluster = clusters.find(({ engine }) => engine === 'postgresql');
  const server = await startSource(tell);
  if (server === undefined) return;
  try {
    const env = { PGPASSWORD: server.password };
    const source = ['--source', `postgres://postgres@127.0.0.1:${server.port}/shop`, '--disable-ssl'];
    const known = ['--target-version', cluster.version, '--accept', 'listen-addresses'];
    tell(`It listens on 127.0.0.1:${server.port}; its password is in PGPASSWORD. Can it be migrated?`);
    await command(['db', 'preflight', ...source, ...known, '--fix-sql', 'fix.sql'], { env, code: 3 });
    await cure(server, readFileSync(join(folder, 'fix.sql'), 'utf8'), tell);
    tell('Now it is ready, and the migration into the cluster of the sandbox can start:');
    await command(['db', 'migrate', cluster.uuid, ...source, ...known, '--yes'], { env });
    await command(['api', 'GET', `/v2/databases/${cluster.uuid}/online-migration`]);
    tell('The cluster of the sandbox has no data plane: the state is real, no rows are moved.');
  } finally {
    await server.stop();
  }
}

/** wal_level is the one a server begins with, and one table that is written to has no key. */
async function startSource(tell) {
  tell('\nA database to migrate: PostgreSQL of the npm registry, fetched once and started on a free port …');
  try {
    const server = await startPostgres({
      version: 17,
      settings: { wal_level: 'replica', max_replication_slots: 10, max_wal_senders: 10 },
    });
    await server.query('CREATE DATABASE shop');
    for (const statement of shop) await server.query(statement, 'shop');
    return server;
  } catch (error) {
    tell(`PostgreSQL cannot be had here, so the story of the database is left out: ${error.message}`);
    return undefined;
  }
}

const shop = [
  'CREATE TABLE customers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)',
  "INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, 1000) n",
  'CREATE TABLE visits (customer bigint, at timestamptz DEFAULT now())',
  'INSERT INTO visits (customer) SELECT id FROM customers',
  'UPDATE visits SET at = now() WHERE customer < 100',
];

/** What a DBA would do with the script: run its SQL, and restart the server where it says so. */
async function cure(server, script, tell) {
  tell('\nThe script that was written:\n');
  tell(script.replace(/^/gm, '  ').trimEnd());
  for (const section of sectionsOf(script)) {
    await runSql(server, section.lines);
    const restarts = toldIn(section).some((line) => line.startsWith('pg_ctl restart'));
    if (restarts) await server.restart();
    tell(`  (section "${section.title}" ${restarts ? 'done: the server was restarted' : 'run'})`);
  }
}
