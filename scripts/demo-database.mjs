import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runSql, sectionsOf, toldIn } from './psql.mjs';

/**
 * The second story: a small PostgreSQL that is not ready to be migrated, what is wrong with it, the cure, a rehearsal, and
 * the migration to its end.
 * @param command runs cloudctl with these words, shown as typed, and checks its exit code
 */
export async function databaseStory({ source, target, clusters, folder, tell, command }) {
  const cluster = clusters.find(({ data_plane: plane }) => plane !== 'none');
  const address = `postgres://postgres@127.0.0.1:${source.port}/shop`;
  const env = { PGPASSWORD: source.password, CLOUDCTL_REHEARSE_INTO_PASSWORD: target.password };
  const from = ['--source', address, '--disable-ssl'];
  const known = ['--target-version', cluster.version, '--accept', 'listen-addresses'];
  tell(
    `\nA database to migrate listens on 127.0.0.1:${source.port}; its password is in PGPASSWORD. Can it be migrated?`,
  );
  await command(['db', 'preflight', ...from, ...known, '--fix-sql', 'fix.sql'], { env, code: 3 });
  await cure(source, readFileSync(join(folder, 'fix.sql'), 'utf8'), tell);
  tell('\nNow it is ready. First a rehearsal into a server of our own, which removes again all it makes:');
  const into = ['--into', `postgres://postgres@127.0.0.1:${target.port}/postgres`];
  await command(['db', 'rehearse', ...from, ...into, '--accept', 'listen-addresses', '--yes'], { env });
  tell(
    '\nAll would go well, and the source was judged twice by now. The migration itself, into the cluster of the sandbox:',
  );
  await command(['db', 'migrate', cluster.uuid, ...from, '--skip-preflight', '--yes'], { env });
  tell('\nIt runs. Seen from the source, until nothing is left to replicate; meanwhile the shop gets a new customer:');
  const watched = command(['db', 'watch', ...from, '--interval', '1s', '--until-idle'], { env });
  await Promise.all([watched, newCustomer(source, tell)]);
  await tellRows('The target has', target, tell);
  const migration = `/v2/databases/${cluster.uuid}/online-migration`;
  await command(['api', 'GET', migration, '--query', '{status: status, databases: databases[].[name, phase]}']);
  tell('\nThe application would move now. The migration is stopped, as in the control panel:');
  await command(['api', 'DELETE', migration]);
  await removed(source);
  await command(['api', 'GET', migration, '--query', '[status, reason]']);
  await tellRows('What was migrated is retained: the target has', target, tell);
  tell('On the source no replication slot and no publication is left.');
}

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
    `  (${words} ${customers} customers, ${visits} visits; the late customer is ${late === '1' ? 'there' : 'NOT there'})`,
  );
  if (late !== '1') throw new Error('the row that was written meanwhile has not arrived');
}

/** Stopping is answered at once, and what the migration made is removed behind the answer. */
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
