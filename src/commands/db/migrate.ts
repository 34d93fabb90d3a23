import { startMigration } from '../../api/databases.ts';
import type { CommandSpec, Words } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { CliError, usage } from '../../errors.ts';
import { canWrite } from '../../oauth/scope.ts';
import { textReport } from '../../preflight/formats/text.ts';
import type { Report } from '../../preflight/report.ts';
import { loginCommand } from '../../session/current.ts';
import { manualCommands } from './manual.ts';
import { type Judged, judge, notPossible, reportOptions, wholeText } from './report.ts';
import { type Source, sourceOf, sourceOptions } from './source.ts';
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
    await context.output.object(result, view);
    await context.output.note(afterwards(source.engine, deadline));
    return 0;
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

/** Known before the source is asked anything: a session that cannot write would only fail in the end. */
async function requireWrite(context: Context): Promise<void> {
  const settings = context.settings();
  if (settings.accessToken !== undefined) return;
  const record = await context.session(settings).record();
  if (canWrite(record.scope)) return;
  throw new CliError('scope_too_small', "the session's scope does not allow to start a migration", {
    detail: `its scope is ${record.scope}`,
    hint: `log in with write access: ${loginCommand(settings.profileName).replace(/`$/, ' --scope "read write"`')}`,
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
