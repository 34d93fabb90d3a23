import { startMigration } from '../../api/databases.ts';
import type { CommandSpec, Words } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { CliError, usage } from '../../errors.ts';
import { canWrite } from '../../oauth/scope.ts';
import { textReport } from '../../preflight/formats/text.ts';
import type { Report } from '../../preflight/report.ts';
import { wayIn } from '../../session/wiring.ts';
import { carriersBefore } from '../../watch/before.ts';
import { recordPath, type Started, sourceName, writeRecord } from '../../watch/record.ts';
import { manualCommands } from './manual.ts';
import { type Judged, judge, notPossible, reportOptions, wholeText } from './report.ts';
import { type Source, sourceOf, sourceOptions } from './source.ts';
import { watchingOf, watchOptions } from './watch.ts';
import { nameOf, watchMigration } from './watching.ts';
import { wishOf, wishOptions } from './wish.ts';

interface Migrated {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly deadline: string;
  readonly preflight?: Report;
}

const view = {
  columns: [
    { name: 'ID', value: (row: Migrated) => row.id },
    { name: 'Status', value: (row: Migrated) => row.status },
    { name: 'CreatedAt', value: (row: Migrated) => row.created_at },
    { name: 'Deadline', value: (row: Migrated) => row.deadline },
  ],
};

export const migrate: CommandSpec<Context> = {
  summary: 'start the online migration of an external database into a cluster',
  description:
    'Runs the preflight first. If the continuous migration is possible it is started, after a question in a terminal; otherwise nothing is sent and the exit code is 3. The service is told host, database, port, user and password of the source, and nothing else is told the password. It replicates until it is stopped, two weeks at most.',
  arguments: [{ name: 'CLUSTER_UUID', description: 'UUID of the managed cluster that is filled', required: true }],
  options: [
    ...sourceOptions,
    ...wishOptions,
    ...reportOptions,
    { name: 'skip-preflight', description: 'start without judging the source' },
    { name: 'watch', description: 'follow the migration once it is accepted, as `db watch` does' },
    ...watchOptions,
  ],
  examples: [
    {
      text: 'From the old server into the cluster',
      command:
        'PGPASSWORD=… cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop',
    },
    {
      text: 'Leave two databases out',
      command:
        'cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop --ignore-dbs scratch,old',
    },
  ],
  run: async (context, words) => {
    const cluster = clusterOf(words);
    refuseIdleWords(words);
    const settings = context.settings();
    const source = await sourceOf(context, words);
    const wish = wishOf(words, source.engine, settings, context.host.clock.now());
    await requireWrite(context);
    const judged = words.flag('skip-preflight') ? undefined : await judge(context, words, source, wish);
    if (judged !== undefined) await tell(context, judged);
    if (wish.method !== 'continuous') throw byHand(source, wish.method);
    if (judged !== undefined && !judged.report.ok) throw notPossible(judged.report, words.text('fix-sql'));
    await confirm(context, source, cluster);
    const api = await context.api(settings);
    const before = judged === undefined ? undefined : await carriersBefore(source, 5000);
    const started = await startMigration(api, cluster, requestOf(source, words));
    const begun = Date.parse(started.createdAt) || context.host.clock.now();
    const deadline = new Date(begun + 14 * 86_400_000).toISOString().replace('.000Z', 'Z');
    const result: Migrated = {
      id: started.id,
      status: started.status,
      created_at: started.createdAt,
      deadline,
      ...(judged === undefined ? {} : { preflight: judged.report }),
    };
    await record(context, source, { at: begun, cluster, id: started.id }, judged?.report, before);
    await context.output.object(result, view);
    await context.output.note(afterwards(source.engine, deadline));
    return words.flag('watch') ? watchMigration(context, watchingOf(words, source, words.flag('show-queries'))) : 0;
  },
};

function clusterOf(words: Words): string {
  const [typed = ''] = words.args;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(typed)) return typed.toLowerCase();
  throw usage(
    'CLUSTER_UUID is not a UUID',
    'copy it from the control panel; it looks like 3b643ad7-65aa-4066-b45b-1c64b6db600a',
  );
}

/** Words of the watch mean nothing where nobody watches. */
function refuseIdleWords(words: Words): void {
  if (words.flag('watch')) return;
  const idle = watchOptions.find(({ name }) => words.list(name).length > 0);
  if (idle !== undefined) throw usage(`cannot use --${idle.name} without --watch`, 'add `--watch`');
}

/** Known before the source is asked anything: a session that cannot write would only fail in the end. */
async function requireWrite(context: Context): Promise<void> {
  const settings = context.settings();
  if (settings.accessToken !== undefined) return;
  const record = await context.session(settings).record();
  if (canWrite(record.scope)) return;
  throw new CliError('scope_too_small', "the session's scope does not allow to start a migration", {
    detail: `its scope is ${record.scope}`,
    hint: wayIn(settings, context.host.folders.config).write,
  });
}

async function tell(context: Context, { report, changes }: Judged): Promise<void> {
  const plain = (text: string): string => text;
  await context.output.note(
    textReport(report, { bold: plain, dim: plain, red: plain, yellow: plain }, changes),
    wholeText,
  );
}

/** The request has no method (spec.md §4.5): what is sent is a continuous migration, so another one is a person's work. */
function byHand(source: Source, method: 'dump' | 'scan'): CliError {
  return usage(
    `cannot start a ${method}: the service's online migration is continuous; nothing was sent`,
    'run the commands of the detail by hand',
    manualCommands(source),
  );
}

async function confirm(context: Context, { source }: Source, cluster: string): Promise<void> {
  if (!context.prompts.interactive) return;
  const message = `Start the online migration of ${source.host}:${source.port} into cluster ${cluster}?`;
  if (await context.prompts.confirm({ message })) return;
  throw new CliError('cancelled', 'the migration was not started', {
    hint: 'nothing was sent; run the command again to start it',
  });
}

function requestOf({ engine, source }: Source, words: Words): Parameters<typeof startMigration>[2] {
  const ignoreDbs = words.list('ignore-dbs');
  return {
    source: {
      host: source.host,
      ...(engine === 'postgresql' ? { dbname: source.dbname } : {}),
      port: source.port,
      ...(source.username === undefined ? {} : { username: source.username }),
      ...(source.password === undefined ? {} : { password: source.password }),
    },
    disableSsl: source.ssl === 'disable',
    ...(ignoreDbs.length === 0 ? {} : { ignoreDbs }),
  };
}

/** For `db watch`: from when the two weeks run, and what of the source is not the migration's. It is accepted whatever happens here. */
async function record(
  context: Context,
  source: Source,
  started: Started,
  report: Report | undefined,
  before: readonly string[] | undefined,
): Promise<void> {
  const name = nameOf(source);
  const warned = report?.findings.filter(({ status }) => status === 'warn' || status === 'fail').map(({ id }) => id);
  try {
    writeRecord(recordPath(context.host.folders.state, name), {
      engine: source.engine,
      source: sourceName(name),
      started,
      ...(before === undefined ? {} : { before }),
      ...(warned === undefined ? {} : { warned: [...new Set(warned)] }),
    });
  } catch (error) {
    await context.output.warn(
      `could not write down when it started: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** spec.md §4.6: what must not be done meanwhile, and what must be undone afterwards. */
function afterwards(engine: Source['engine'], deadline: string): string {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, nor anything between the two databases']
      : [
          'do not write to the tables on the target that are being migrated',
          'do not change the replication configuration of the source, wal_level or max_replication_slots',
          'do not change anything that breaks the connection between the two databases',
        ];
  return [
    `The migration is accepted and runs until it is stopped, at the latest until ${deadline}. Accepted does not mean that a row was copied.`,
    ...rules.map((rule) => `  ${rule}`),
    'Afterwards restore the firewall rules and trusted sources that were opened for it.',
  ].join('\n');
}
