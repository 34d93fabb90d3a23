import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { manualStepsOf, runSql, sectionsOf } from './psql.mjs';

/**
 * The second part of the demo: a small PostgreSQL database that is not ready for a migration: preflight, fix script,
 * rehearsal, and the migration to its end.
 * @param command runs cloudctl with these arguments, prints them as typed, and checks the exit code
 */
export async function databaseStory({ source, target, clusters, folder, tell, command }) {
  const cluster = clusters.find(({ data_plane: plane }) => plane !== 'none');
  const address = `postgres://postgres@127.0.0.1:${source.port}/shop`;
  const env = { PGPASSWORD: source.password, CLOUDCTL_REHEARSE_INTO_PASSWORD: target.password };
  const from = ['--source', address, '--disable-ssl'];
  const known = ['--target-version', cluster.version, '--accept', 'listen-addresses'];
  tell(
    `\nA database to migrate listens on 127.0.0.1:${source.port}; its password is in PGPASSWORD. Can the database be migrated?`,
  );
  await command(['db', 'preflight', ...from, ...known, '--fix-sql', 'fix.sql'], { env, code: 3 });
  await applyFixScript(source, readFileSync(join(folder, 'fix.sql'), 'utf8'), tell);
  tell('\nThe source is ready. First a rehearsal into a server of our own; it removes everything it creates:');
  const into = ['--into', `postgres://postgres@127.0.0.1:${target.port}/postgres`];
  await command(['db', 'rehearse', ...from, ...into, '--accept', 'listen-addresses', '--yes'], { env });
  tell(
    '\nThe migration would succeed. Now the migration itself, into the cluster of the sandbox (the preflight ran twice already):',
  );
  await command(['db', 'migrate', cluster.uuid, ...from, '--skip-preflight', '--yes'], { env });
  tell(
    '\nThe migration is running. Follow it until nothing is left to replicate; during the copy the shop gets a new customer:',
  );
  const watched = command(['db', 'watch', ...from, '--interval', '1s', '--until-idle'], { env });
  await Promise.all([watched, newCustomer(source, tell)]);
  await tellRows('The target has', target, tell);
  const migration = `/v2/databases/${cluster.uuid}/online-migration`;
  await command(['api', 'GET', migration, '--query', '{status: status, databases: databases[].[name, phase]}']);
  tell('\nAt this point the application would switch to the target. Stop the migration, as in the control panel:');
  await command(['api', 'DELETE', migration]);
  await removed(source);
  await command(['api', 'GET', migration, '--query', '[status, reason]']);
  await tellRows('Migrated data is retained: the target has', target, tell);
  tell('No replication slot and no publication is left on the source.');
}

/** Does what a DBA would do with the script: runs its SQL, and restarts the server where the script says so. */
async function applyFixScript(server, script, tell) {
  tell('\nThe fix script:\n');
  tell(script.replace(/^/gm, '  ').trimEnd());
  for (const section of sectionsOf(script).filter(({ isOptional }) => !isOptional)) {
    await runSql(server, section.lines);
    const restarts = manualStepsOf(section).some((line) => line.startsWith('pg_ctl restart'));
    if (restarts) await server.restart();
    tell(`  (section "${section.title}" ${restarts ? 'done, server restarted' : 'done'})`);
  }
}

async function newCustomer(server, tell) {
  await sleep(3000);
  const [{ id }] = await server.query("INSERT INTO customers (name) VALUES ('late customer') RETURNING id", 'shop');
  tell(`  (on the source: customer ${id} was inserted)`);
}

async function tellRows(words, server, tell) {
  const [{ customers, visits, late }] = await server.query(
    `SELECT (SELECT count(*) FROM customers) AS customers, (SELECT count(*) FROM visits) AS visits,
     (SELECT count(*) FROM customers WHERE name = 'late customer') AS late`,
    'shop',
  );
  tell(
    `  (${words} ${customers} customers, ${visits} visits; the customer inserted during the copy ${late === '1' ? 'arrived' : 'is MISSING'})`,
  );
  if (late !== '1') throw new Error('the row that was written during the copy has not arrived');
}

/** The stop request returns at once; the objects of the migration are removed afterwards. */
async function removed(server) {
  for (const limit = Date.now() + 20_000; Date.now() < limit; await sleep(100)) {
    const [{ left }] = await server.query(
      'SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_publication) AS left',
      'shop',
    );
    if (left === '0') return;
  }
  throw new Error('a replication slot or a publication is left on the source');
}
