import { createTerminalStyles, isColorEnabled } from '../../cli/color.ts';
import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { readDbSource, sourceOptionSpecs } from '../../db-source/read-source.ts';
import type { Finding } from '../../preflight/finding.ts';
import { textReport } from '../../preflight/formats/text-report.ts';
import { preflightOptionSpecs, readPreflightOptions } from '../../preflight/option-specs.ts';
import {
  methodNotPossibleError,
  type PreflightOutcome,
  reportOptionSpecs,
  runPreflightWithFiles,
} from '../../preflight/run-with-files.ts';

export const dbPreflightCommand: CommandSpec<Context> = {
  description:
    'Judges whether an external PostgreSQL or Redis database can be migrated online into a managed cluster: by continuous replication, only by a dump (scan), or not yet; why; what to change; and how long it will take. Every statement runs inside a read-only transaction; --show-queries prints them. It proves the way from this machine, not from the service. Exit 3 when the method asked for is not possible.',
  options: [...sourceOptionSpecs, ...preflightOptionSpecs, ...reportOptionSpecs],
  examples: [
    {
      text: 'Is it ready?',
      command: 'PGPASSWORD=… cloudctl db preflight --source postgres://mover@db.example.com/shop --target-version 17',
    },
    {
      text: 'What must be done, as scripts',
      command:
        'cloudctl db preflight --source postgres://mover@db.example.com/shop --fix-sql fix.sql --undo-sql undo.sql',
    },
    {
      text: 'For a change request',
      command:
        'cloudctl db preflight --source postgres://mover@db.example.com/shop --report preflight.html --report preflight.sarif',
    },
    { text: 'Redis', command: 'cloudctl db preflight --source rediss://db.example.com:6379 --target-version 7.2' },
  ],
  run: async (context, words) => {
    const source = await readDbSource(context, words);
    const wish = readPreflightOptions(words, source.engine, context.settings(), context.host.clock.now());
    const judged = await runPreflightWithFiles(context, words, source, wish);
    await showReport(context, judged);
    if (!judged.report.ok) throw methodNotPossibleError(judged.report, words.value('fix-sql'));
    return 0;
  },
};

/** The report as data: as text where a table would be, else by the format; rows are findings where a format has rows. */
async function showReport(context: Context, { report, changes }: PreflightOutcome): Promise<void> {
  const { output, globals, host } = context;
  const asText =
    output.format === 'table' && globals.values('format').length === 0 && globals.value('query') === undefined;
  if (asText) {
    const ink = await createTerminalStyles(
      isColorEnabled({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') }),
    );
    await output.text(textReport(report, ink, changes));
    return;
  }
  if (
    output.format === 'csv' ||
    output.format === 'ndjson' ||
    (output.format === 'table' && globals.value('query') === undefined)
  ) {
    await output.list(report.findings, findingView);
    return;
  }
  await output.data({ ...report, ...(changes === undefined ? {} : { changes }) });
}

const findingView = {
  columns: [
    { name: 'ID', value: (row: Finding) => row.id },
    { name: 'Status', value: (row: Finding) => row.status },
    { name: 'Database', value: (row: Finding) => row.database },
    { name: 'Observed', value: (row: Finding) => row.observed },
    { name: 'Required', value: (row: Finding) => row.required },
    { name: 'Blocks', value: (row: Finding) => row.blocks.join(',') },
    { name: 'Title', value: (row: Finding) => row.title, extra: true },
    { name: 'Detail', value: (row: Finding) => row.detail, extra: true },
    { name: 'Fix', value: (row: Finding) => row.fix?.text, extra: true },
  ],
};
