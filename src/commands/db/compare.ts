import { sanitizeReportLine } from '../../base/sanitize.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { CommandContext } from '../../context.ts';
import {
  acceptWords,
  buildDatabaseComparisonError,
  compareDatabases,
  divideAccepted,
  printDatabaseComparison,
  readTargetServer,
} from '../../db/cutover/index.ts';
import { readSource, sourceOptionSpecs, sourceWords, targetUrlText } from '../../db/source/index.ts';
import { runUntilSignal } from '../../platform/waiting.ts';

export const dbCompare: CommandSpec<CommandContext> = {
  description:
    'Compares the contents of source and target after a migration, before the application is switched over. Both servers are only read.\n\nPostgreSQL: the rows of every table are read on both servers with COPY, in one read-only transaction for each table, and a hash is computed here that does not depend on their order. Large objects and sequences are compared too. Redis: every key is read on both servers, with its type, value and expiry; keys that expire meanwhile are no writes.\n\nWhen the source is written to meanwhile, or the target has not received everything, the result is "not comparable": stop all writes and run the command again. The report lists what was not compared.\n\nThe password of the target is read from the address, CLOUDCTL_TARGET_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: everything that was compared is equal. 1: something differs. 5: no difference is proven, and something could not be compared.',
  options: [
    ...sourceOptionSpecs,
    {
      name: 'target',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
    },
    {
      name: 'accept',
      valueName: 'TABLE',
      multiple: 'list',
      description:
        'Count a table that cannot be compared, as DATABASE:SCHEMA.TABLE, as checked by you; never one that differs',
    },
  ],
  examples: [
    {
      text: 'Compare all databases before the cut-over',
      command:
        'cloudctl db compare --source postgres://mover@db.example.com/shop --target postgres://admin@cluster.example.com:25061/defaultdb',
    },
    {
      text: 'List the tables that differ',
      command:
        'cloudctl db compare --source postgres://mover@db.example.com/shop -o json --query "databases[].tables[?state==\'differs\'].name"',
    },
  ],
  // The report, and the tables of its rows.
  fields: [
    'schema_version',
    'state',
    'engine',
    'source',
    'target',
    'databases',
    'left_to_stop',
    'not_compared',
    'started_at',
    'seconds',
    'database',
    'kind',
    'name',
    'error',
    'columns_not_compared',
    'acceptable',
    'accepted',
  ],
  run: async (context, args) => {
    const { host, output, progress } = context;
    const { clock, signals } = host;
    const { tables: accepted } = divideAccepted(args.values('accept'), []);
    const source = await readSource(context, args);
    const target = await readTargetServer(context, {
      typed: args.value('target'),
      engine: source.engine,
      allowCleartextPassword: args.has('allow-cleartext-password'),
    });
    const ignoreDbs = args.values('ignore-dbs');
    const report = await runUntilSignal(signals, 'the comparison was interrupted', (signal) =>
      compareDatabases({
        ...{ source, target, ignoreDbs, clock, signal, accepted },
        onProgress: ({ database, done, total }) => {
          if (output.format === 'table')
            void progress.show(sanitizeReportLine(`comparing ${database} (${done + 1} of ${total})`));
        },
      }),
    ).finally(() => progress.stop());
    await printDatabaseComparison(context, report);
    if (report.state === 'equal') return 0;
    const from = sourceWords(source, { ignoreDbs, caFile: args.value('ca-file') }).join(' ');
    const to = quoteShellArg(targetUrlText(target));
    throw buildDatabaseComparisonError(report, `cloudctl db compare ${from} --target ${to}${acceptWords(accepted)}`);
  },
};
