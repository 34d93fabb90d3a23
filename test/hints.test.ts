import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readProject } from './architecture/project.ts';
import { executedTexts, type HintText, hintTexts } from './fixtures/hint-texts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const texts = hintTexts(readProject(root));

/** The hints that no test of test/e2e/hints follows, by the reason: a hint of the program is followed, or stands here. */
const notFollowed: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'needs database servers and a migration in that state, which test/db/watch, test/truth and test/db/cutover bring about without the program in a shell':
    {
      'api/online-migration.ts': ['`cloudctl api GET …` prints the response'],
      'api/start-online-migration.ts': [
        'before you start the migration again, check whether it is running: …',
        'show the other migration with …; stop it with …',
      ],
      'api/stop-online-migration.ts': [
        'show the migration with `cloudctl db status …`, and stop it again if it is running',
        'stop the migration in the control panel',
      ],
      'db/cutover/run.ts': [
        'add `--follow`',
        'run it without `--apply` to only look',
        'the service has … about what it does not copy: `…` prints ……',
      ],
      'db/cutover/scripts.ts': ['skip a database with `--ignore-dbs`, or run the command again'],
      'db/watch/migrate.ts': ['follow it with `…`', 'show the earlier migration with …; stop it with …'],
      'db/cutover/rehearse/rehearse.ts': [
        'check that both servers accept connections, and …',
        'run the same command again to remove the remaining objects',
      ],
      'db/watch/migration.ts': ['follow the other migration with `…`'],
      'db/cutover/stop.ts': [
        'remove the objects, then run the same command again with `--source`, which checks that nothing is left',
        'wait for the end with `…`: it sends the stop again, which changes nothing',
      ],
      'commands/db/migrate.ts': ['set … to the server of this cluster, or give the UUID of the cluster of that server'],
      'db/cutover/check.ts': ['free disk space and memory of the target: its log has the error'],
      'db/cutover/comparison-text.ts': [
        'check … yourself, then run `……`',
        'do not switch the application over; find out which server has the right rows with `… -o json`',
        'stop all writes to both servers, wait until nothing is left to replicate, and run the command again',
        'stop the migration, then run `…`',
      ],
      'db/cutover/attempt.ts': [
        'check the UUID of the cluster with `…`',
        'do not stop the application; …',
        'do not switch; …',
        'do not switch; …; then run `…`',
      ],
      'db/cutover/comparison.ts': ['name …', 'name …, or a line: …'],
      'db/cutover/follow.ts': [
        'compare everything: leave out `--compare`',
        'do not switch; see the difference with `…`',
        'do not switch; …',
        'if the source pauses writes, end that with `…`',
        'remove them, because a slot retains WAL; then run `…`',
        'set them as their owner, then run `…`',
        'the source is read-only (…); before its application writes there again, run `…`',
        '…; then continue with `…`',
        '…; then run `…`',
      ],
      'db/cutover/next.ts': [
        'if the application uses the target already, the cut-over is done: do not run it again; otherwise set the sequences back with `…`, then run `…`',
      ],
      'db/cutover/postgresql/compare.ts': ['give another server with `--target`'],
      'db/cutover/progress.ts': ['continue with `…`', 'give the user of `--target` the privilege, then run `…`'],
      'db/cutover/redis/compare.ts': ['give another server with `--target`'],
      'db/cutover/rehearse/driver.ts': ['run the command without `--method`'],
      'db/cutover/rehearse/existing.ts': ['wait until that rehearsal ends…'],
      'db/cutover/rehearse/output.ts': [
        'correct the source, or leave the database out with `--ignore-dbs`, and rehearse again',
        'run the same command again to remove what is left',
        'run the same command again while the application writes less',
      ],
      'db/cutover/rehearse/plan.ts': [
        'give an empty server with `--into`, or skip these databases with `--ignore-dbs`; nothing was changed',
        'give another server with `--into`',
        'remove a database from `--ignore-dbs`',
        '…; nothing was changed',
      ],
      'db/cutover/rehearse/postgresql.ts': ['run the command again after the other program has ended'],
      'db/cutover/rehearse/redis.ts': [
        'give an empty server with `--into`: replication deletes existing keys; nothing was changed',
        'give another server with `--into`',
        '…; nothing was changed',
      ],
      'db/cutover/rehearse/run.ts': [
        'remove the replication slots and publications named cloudctl_… from the source, and delete the file',
        'run the statements for the objects that can be dropped, then run the command again',
        'wait until that rehearsal ends, or end it with Ctrl-C in its terminal',
      ],
      'db/cutover/remains.ts': [
        'when the source can be reached, run the same command again: nothing is sent for a migration that has ended',
      ],
      'db/cutover/rest.ts': ['check that `--target` is the server of the cluster, then run `…`'],
      'db/cutover/target.ts': [
        'add `?sslmode=disable` to the address in `…`: the target has no TLS',
        'add `sslmode=verify-full&sslrootcert=FILE` to the address in `…`, or add `--allow-cleartext-password`',
        'check the address in `…` and the access rules of the target',
        'set … to the password of the target, and check the user in `…`',
        'unset CLOUDCTL_TARGET, or leave out `--target-extensions`',
      ],
      'db/inventory/run.ts': [
        'fix first: …',
        'fix the findings of the report',
        'the report has the reason of each; run the same command again',
      ],
      'db/preflight/options.ts': ['leave out `--target-version`'],
      'db/preflight/postgresql/each-database.ts': [
        'give the names exactly as the server has them, including upper and lower case',
        'leave at least one database out of `--ignore-dbs`',
      ],
      'db/preflight/run-with-files.ts': [
        'apply the fixes in the report, and run the preflight again',
        'do the steps in … by hand on the server, and run the preflight again',
        'provide the correct password, and run the preflight again',
        'review …, run it section by section, and run the preflight again',
        'see whether the migration of these objects has ended: …',
        'write the fixes into one script: run the same command with `--fix-sql fix.sql --undo-sql undo.sql`',
      ],
      'db/source/words.ts': [
        'correct the password of the source in …; `…` shows whether it is right',
        'find the cause with `…`',
        'the source does not support SSL: add `--disable-ssl`, or enable SSL on the source',
        'the source does not support TLS: write its address with redis:// instead of rediss://',
      ],
      'db/watch/failures.ts': ['…; then …start again with `…`'],
      'db/watch/postgresql/cause.ts': [
        'one of these: …',
        '… (preflight warning …)',
        '…; search the log of the source for refused logins',
        'only the log of the target names a constraint or column that refuses the row, `…` lists those of the table; …',
        '…; the log of the target has the error; if you cannot read it, ask its operator for it',
        '…; the source retains WAL until the target reconnects',
      ],
      'db/watch/postgresql/fold.ts': [
        'set wal_level to logical in postgresql.auto.conf and start the source: with wal_level = … and a logical slot it does not start (FATAL: logical replication slot exists, but wal_level < logical)',
      ],
      'db/watch/postgresql/objects.ts': [
        'creating the publication again does not help; …',
        'extend the validity: the target needs the password when it reconnects',
        'give the role its attributes back: the target logs in as this role',
        'if nobody has stopped the migration: …',
        'if the password was changed, restore the password that was given to `db migrate`: the target still uses it',
        'raise max_slot_wal_keep_size on the source; …',
        'reset the setting: this timeout ends the copy of a large table',
        'stop the migration, then empty the target and start it again: all rows are copied again',
        'the slot was dropped, the migration has ended, or the service is still copying the schema: check its status',
        'undo the change; rows that were not published in between are missing on the target',
      ],
      'db/watch/postgresql/rules.ts': [
        'DO NOT RESTART THE SOURCE: with more slots than this the server does not start (FATAL: too many replication slots active before shutdown). First run ALTER SYSTEM SET … = …',
        "DO NOT RESTART THE SOURCE: with … the server does not start (FATAL: logical replication slot exists, but wal_level < logical). First run ALTER SYSTEM SET wal_level = 'logical'",
        'before the next restart run ALTER SYSTEM SET … = …',
        'check the log of the source if the target does not reconnect within seconds',
        'empty the table on the target, and check it for missing columns and constraints (rows written there cause duplicate keys): only the log of the target names the one that fails, and the statement lists those of the table',
        'lower the load on the source, or stop the migration before the disk is full',
        'raise max_slot_wal_keep_size as far as the disk allows and run SELECT pg_catalog.pg_reload_conf()',
        "replication has ended: set wal_level = 'logical' and restart the source; stop the migration, empty the target, and start it again",
        'run ALTER SYSTEM SET … = …, then restart the source',
        'search the log of the source for "does not have a replica identity and publishes updates" and run ALTER TABLE … REPLICA IDENTITY FULL',
        'set … back to …: the target may not be able to reconnect',
        'stop the migration, empty the target, and start it again from the new primary, which does not have the slot of the migration',
        "synchronous_standby_names includes the target: list only the real standbys, or ALTER SYSTEM SET synchronous_standby_names = '' and reload",
        'then run SELECT pg_catalog.pg_reload_conf(): the target must be able to log in to every database',
      ],
      'db/watch/postgresql/schema.ts': [
        'add the column on the target: replication fails on the next row of the table',
        'change the type on the target: replication fails on a value that the old type does not accept',
        'create the table on the target with the same columns, then refresh the subscription: replication fails on its first row',
        'drop the column on the target: replication fails if it is NOT NULL there',
        'drop the table on the target, too',
        'make the same change on the target, or undo it',
        'make the same change on the target: replication fails on rows with other columns',
        'restore the primary key or the replica identity: UPDATE and DELETE of the application fail now',
      ],
      'db/watch/probe.ts': [
        'if the password was changed, restore it: …',
        'if this is another server, restore the DNS record: the migration cannot continue there',
        'make sure that the target trusts the new certificate, if it verifies certificates',
        'undo the change (…): …',
      ],
      'db/watch/redis/rules.ts': [
        'stop the application, and load the keys into the source again; so that the next restart keeps them, run CONFIG SET appendonly yes there',
        'allow the command: …',
        'check in the control panel whether the migration was stopped, then check the firewalls and the password',
        'check the network between source and target, and the load of the target',
        'close connections, or raise maxclients: CONFIG SET maxclients COUNT on a connection that is open',
        'free disk space and memory on the source: its log has the error',
        'if the password or the ACL of the user was changed, restore it: the target logs in with the same credentials',
        'if this was a mistake, stop the migration before the target loses the keys too',
        'promote the source again, or stop the migration, empty the target, and start it from the new primary',
        'raise client-output-buffer-limit (now: …): CONFIG SET client-output-buffer-limit "replica BYTES 0 0", as far as the machine has memory',
        'raise maxmemory: CONFIG SET maxmemory BYTES, as far as the machine has memory',
        'raise maxmemory: evicted keys are missing on the target as well',
        'run ACL LOG to see who was refused; restore the password or the ACL of the migration user if it was changed',
        'start the source, or check the network: the watch keeps retrying',
        'the source does not show the cause. On the target: a full disk, too little memory, or a version that cannot read the data. On the source: …. Between them: the network. The log of the target has the error',
        'undo the change: …',
        'wait until the script ends; end one that has not written with SCRIPT KILL or FUNCTION KILL',
        'wait: the target connects again, and copies everything again if it cannot continue',
      ],
      'db/watch/sample.ts': [
        'lower the load on the source, leave out large tables, or migrate by dump',
        'move the application to the target before the deadline, or stop the migration, empty the target, and start it again',
      ],
      'db/watch/service.ts': [
        'enable the subscription',
        'end the session on the target that holds the lock',
        'enlarge the disk of the target, or remove data there',
        'make the table of the target like that of the source',
        'make the target writable: it must not be a standby',
        'remove the row that was written on the target; do not write to migrated tables',
        'remove the timeout of the role, and end the session that holds the lock',
        'restore the host rule, and run SELECT pg_catalog.pg_reload_conf()',
        'restore the password and the role: the target logs in with the same credentials',
        'run `…` for the state of each database',
        'see the log of the target',
        'start the target, or check its status at the service',
        'stop the migration, empty the target, and start it again',
      ],
      'db/watch/start.ts': [
        'set CLOUDCTL_STATE_DIR to a folder that you can write to',
        'show the migration of the other process with `…`',
        'with a session of that account, run `cloudctl db status …`',
      ],
      'db/watch/watch.ts': [
        'find out at the target which … it uses, and add its `--slot` to `…`',
        'if it belongs to the migration, run `…`',
        'check that nothing of it is left on the source: run `…`, which sends nothing for a migration that has ended',
        'correct `--slot`, or leave it out',
        '…watch again with `…`; see what is left to do before the cut-over with `…`',
      ],
    },
  'needs a person who answers, declines or interrupts at a terminal': {
    'auth/session/login.ts': ['see …', 'start again with …'],
    'cli/prompts.ts': ['confirm with `…`', 'run the command in a terminal'],
    'auth/session/dialog.ts': ['They stay valid until they expire.', 'To revoke them, run … before the login.'],
    'auth/session/setup.ts': [
      'redirect a file that holds the secret: `… --client-secret-stdin < secret.txt`',
      'store sessions in files with mode 0600: …',
    ],
    'db/watch/migrate.ts': ['run the command again to start the migration; nothing was sent to the service'],
    'commands/db/migrate.ts': ['run these commands by hand; nothing was sent to the service'],
    'db/cutover/rehearse/rehearse.ts': ['run the command again to start the rehearsal'],
    'db/cutover/stop.ts': ['confirm with `…`', 'run the command again to stop the migration'],
    'droplets/delete.ts': ['run the command again to delete the droplets'],
  },
  'needs a disk that is full, read-only or of another kind': {
    'auth/doctor/stores.ts': ['set CLOUDCTL_STATE_DIR to a folder that you own'],
    'auth/session/refresh.ts': ['set CLOUDCTL_STATE_DIR to a folder that you can write to, then log in again'],
    'auth/session/store.ts': [
      'free disk space, then run the command again',
      'set CLOUDCTL_STATE_DIR to a folder that you can write to, then log in again',
    ],
    'base/storage-error.ts': ['free disk space, or …'],
    'db/watch/start.ts': ['could not save the start of the migration for `db watch`: …'],
    'commands/db/migrate.ts': ['set CLOUDCTL_STATE_DIR to a folder that you can write to'],
    'commands/sandbox/start.ts': ['move the state to a folder that you can write to, and start the sandbox again'],
    'config/config-file.ts': [
      'set CLOUDCTL_CONFIG_DIR to a folder that you can read',
      'set CLOUDCTL_CONFIG_DIR to a folder that you can write to',
    ],
    'db/inventory/files.ts': ['correct the cause, such as a full disk, and run the same command again'],
    'droplets/ledger.ts': [
      'free disk space in …',
      'use a folder that you can write to: `--ledger FILE`, or CLOUDCTL_STATE_DIR for the state folder',
    ],
    'droplets/stored.ts': [
      'pass `--ledger FILE` with a file that you can write to',
      'set CLOUDCTL_STATE_DIR to a folder that you can write to, or pass `--ledger FILE`',
    ],
    'platform/stream-sink.ts': [
      'free space where the output is written, then run the command again',
      'write the output to another place, and run the command again',
    ],
    'sandbox/state/state-folder.ts': ['name a folder on a local disk with `--state`'],
  },
  'needs another machine, another system or its administrator': {
    'config/settings.ts': ['set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR, or HOME'],
    'api/client.ts': ['check the host name, the dates of the certificate and the clock of this machine'],
    'auth/doctor/servers.ts': ['set the clock, for example with `timedatectl set-ntp true`'],
    'auth/doctor/stores.ts': ['unlock the keychain in its window, or restart the keychain service'],
    'auth/session/instructions.ts': [
      'This is WSL: if the browser of Windows cannot reach the last page, use ….',
      'This is a codespace: its ports are not those of your machine. Use ….',
      'This is a container: a browser outside cannot reach its loopback interface. Use …, or publish port … and use ….',
      'This is an SSH session: for a browser on your own machine run `ssh…… …` there first….',
      'Where port … is forwarded, this short URL is enough: …',
    ],
    'droplets/account.ts': ['correct the profile: `…`'],
    'platform/secret-file.ts': ['mount the folder of the file instead: …'],
  },
  'needs minutes, two processes that stop each other, or a fault that the sandbox does not have': {
    'api/api-response.ts': ['try again in …', 'try again; if it fails again, report the request id … to the provider'],
    'api/clusters.ts': [
      'copy the UUID of the cluster from the control panel; every `cloudctl db` command takes it as CLUSTER_UUID',
    ],
    'api/list.ts': ['`cloudctl api GET … --paginate` prints the list unparsed'],
    'auth/loopback/server.ts': ['start the login again, with `--paste` if the error occurs again'],
    'auth/session/command.ts': ['let the program use another profile: `cloudctl auth token --profile NAME`'],
    'auth/session/hints.ts': [
      'renew the session that token_command reads',
      'use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`',
    ],
    'cli/error-output.ts': [
      'report this bug with the command (without its secrets) and the output of `cloudctl doctor`',
      'set CLOUDCTL_STATE_DIR and CLOUDCTL_CONFIG_DIR to folders that you can write to',
    ],
    'commands/actions/get.ts': ['wait again with `…`'],
    'config/sandboxes.ts': ['remove the file; it only records the running sandboxes'],
    'db/inventory/files.ts': ['give a folder with `…`: it has one file for each source'],
    'db/inventory/run-password-command.ts': ['write it as in `["pass","show","db1"]`'],
    'db/inventory/sources-file.ts': [
      'pipe the list of sources, as in `cloudctl db inventory - < sources.txt`',
      'split the list of sources',
    ],
    'droplets/account.ts': ['see what the ledger says with `cloudctl droplets batches show … --offline`'],
    'droplets/again.ts': ['…, and replace FILE: the ledger does not contain the user data…'],
    'droplets/delete.ts': [
      'check these droplets with `cloudctl droplets get ID`; `cloudctl droplets delete ID` deletes a droplet of any name',
      'run the command again with `--if-missing skip` to delete the remaining droplets',
    ],
    'droplets/ledger.ts': [
      'check the names with `cloudctl droplets list`',
      'wait until the other process ends, or end it, and run the command again',
    ],
    'droplets/report.ts': [
      'check the names with `…`, and create missing droplets with a new batch',
      'print the rows with `…`',
      '… to look up the droplets of these names again; if their status stays unknown, list them with `…`',
    ],
    'droplets/running.ts': ['run the command again when that run has ended'],
    'droplets/stored.ts': ['pass the path of one of these ledgers'],
    'platform/locks.ts': ['wait for the other process or end it, then run the command again'],
  },
  'needs a file system without locks': {
    'platform/locks.ts': ['set CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR to folders that you own on a local disk'],
  },
  'needs an access token that another program or person issues': {
    'auth/session/hints.ts': [
      'set CLOUDCTL_ACCESS_TOKEN to a new access token',
      'set CLOUDCTL_ACCESS_TOKEN to an access token with write access',
      'show the account of the token: …',
    ],
  },
  'has the words of a hint in another file that is followed': {
    'api/api-response.ts': ['list the existing clusters: `cloudctl db list`'],
    'api/list.ts': ['run the command again'],
    'auth/session/command.ts': ['run the command again'],
    'cli/query.ts': ['see the fields with `-o json`, and type such as `--json id,name`'],
    'cli/user-file.ts': ['pass a file that you have permission to read'],
    'commands/actions/list.ts': ['use a form such as `--… 2026-01-31T08:00:00Z`'],
    'auth/session/setup.ts': ['use `--scope read` or `--scope "read write"`'],
    'commands/completion.ts': ['pass one of …'],
    'commands/config/get.ts': ['use one of …'],
    'db/cutover/scripts.ts': ['use a PostgreSQL target'],
    'db/watch/watch.ts': ['add `--watch`'],
    'commands/db/migrate.ts': ['remove one of the two options'],
    'commands/db/status.ts': ['add `--watch`'],
    'commands/open.ts': ['start the sandbox: `cloudctl sandbox start`'],
    'db/preflight/options.ts': ['use `--method dump`'],
    'db/preflight/run-with-files.ts': ['give a file in a folder where you have write permission'],
    'droplets/existing.ts': ['run the command again'],
    'droplets/running.ts': ['run the command again'],
    'postgresql/endpoint.ts': ['give the public name or address of the server: --host HOST'],
    'redis/endpoint.ts': ['give --source redis://HOST:6379'],
  },
  'is a part of another text': {
    'auth/doctor/browser.ts': ['use …'],
    'db/cutover/stop.ts': ['; until then, these lines in psql on the source drop the slots that are left:'],
    'auth/doctor/diagnose.ts': ['the session belongs to other servers than the profile'],
    'auth/session/errors.ts': ['…; if they are correct, …'],
    'auth/session/store.ts': ['…, then log in again'],
    'cli/query.ts': ["keep backticks from the shell with single quotes: `--query '[?id > `5`]'`"],
    'auth/session/setup.ts': [
      '; Enter for a public client',
      '; Enter keeps the stored one',
      '; Enter uses that of profile …',
    ],
    'droplets/delete.ts': ['…; then …'],
    'sandbox/panel/request-log.ts': ['token ……'],
  },
};

it('each hint is followed in the state that prints it, or listed with the reason why it is not', () => {
  const done = executed();
  const left = texts.filter((one) => !done.has(one)).map(({ file, text }) => `${file}: ${text}`);
  const listed = Object.values(notFollowed).flatMap((files) =>
    Object.entries(files).flatMap(([file, ones]) => ones.map((text) => `src/${file}: ${text}`)),
  );
  // A new hint is to be followed in a test of test/e2e/hints; one that is followed now leaves the list.
  expect(listed.sort()).toEqual(left.sort());
});

/** The texts of the hints that the tests of test/e2e/hints have followed, as their golden files tell. */
function executed(): ReadonlySet<HintText> {
  const folder = `${root}test/golden/`;
  const sections = readdirSync(folder)
    .filter((name) => /^hints-.*\.txt$/.test(name))
    .map((name) => readFileSync(`${folder}${name}`, 'utf8'))
    .join('\n');
  const steps = [...sections.matchAll(/^from: (.*)$[\s\S]*?^hint: (.*(?:\n(?!\$|\(|from: |# ).+)*)$/gm)];
  return new Set(steps.flatMap(([, files = '', hint = '']) => executedTexts(texts, hint, files.split(', '))));
}
