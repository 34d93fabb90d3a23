import { CliError, usageError } from '../../base/errors.ts';
import { escapeUnprintable } from '../../base/sanitize.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import {
  type ConformanceReport,
  type ConformanceResult,
  describeConformanceResult,
} from '../../conformance/conformance-report.ts';
import { renderJunitConformance } from '../../conformance/formats/junit-conformance.ts';
import { runConformance } from '../../conformance/run-conformance.ts';
import { conformanceStatements, specGapProbes } from '../../conformance/statements.ts';
import type { CommandContext } from '../../context.ts';
import { runUntilSignal } from '../../platform/until-signal.ts';
import { requireWritableFile, writeReportFile } from '../../preflight/write-report-file.ts';
import { SPEC_GAPS } from '../../sandbox/spec-gaps.ts';
import { createServerUnderTestClientFromArgs, requireConformanceServersRespond } from './conformance-server.ts';

export const sandboxConformanceCommand: CommandSpec<CommandContext> = {
  description:
    'Tests each statement of the specification with requests to a server: the sandbox, or any other one. A statement holds, differs or was not tested; where the specification leaves a choice open, the report says what the server does. Without --allow-writes only requests are sent that create, change and revoke nothing. A sandbox is restored to its state at the end. Exit code 3: a statement differs.',
  options: [
    {
      name: 'allow-writes',
      description: 'also create and delete droplets, start and stop migrations, and request and revoke tokens',
    },
    { name: 'browser', description: 'open the authorization page in the browser for statements that need a person' },
    {
      name: 'login-timeout',
      valueName: 'DURATION',
      description: 'time limit of one visit in the browser (default: 5m)',
    },
    {
      name: 'cluster',
      valueName: 'UUID',
      description: 'UUID of a cluster for the tests of migrations, whose source does not exist',
    },
    {
      name: 'report',
      valueName: 'FILE',
      multiple: 'repeat',
      description: 'write the report; the file name selects the format: .json .xml (JUnit)',
      completion: 'file',
    },
    {
      name: 'admin-url',
      valueName: 'URL',
      description: 'admin URL of a sandbox that is tested through another URL, such as a proxy',
    },
  ],
  examples: [
    { text: 'Test the running sandbox', command: 'cloudctl --profile sandbox sandbox conformance --allow-writes' },
    {
      text: 'Test another server without changing anything',
      command:
        'cloudctl sandbox conformance --auth-url https://cloud.example.com --base-url https://api.example.com --report conformance.xml',
    },
    {
      text: 'Print what differs',
      command: 'cloudctl --profile sandbox sandbox conformance -o json --query "results[?status==\'differs\']"',
    },
  ],
  run: async (context, args) => {
    const files = args.values('report');
    for (const file of files) requireReportName(file);
    context.output.checkColumns(resultView);
    const report = await runUntilSignal(context.host.signals, 'the test was cancelled', async (signal) => {
      const server = await createServerUnderTestClientFromArgs(context, args, signal);
      await requireConformanceServersRespond(server);
      try {
        return await runConformance({
          server,
          statements: conformanceStatements,
          probes: specGapProbes,
          choices: SPEC_GAPS,
          clock: context.host.clock,
          onProgress: (done, total) => void context.progress.show(`${done} of ${total} statements tested`),
        });
      } finally {
        await context.progress.stop();
      }
    });
    for (const file of files) writeReportFile(file, renderReport(file, report));
    await showReport(context, report);
    if (!report.ok) throw differenceError(report);
    return 0;
  },
};

function requireReportName(file: string): void {
  if (!/\.(json|xml)$/i.test(file))
    throw usageError(`the report format of ${file} is unknown`, 'use a file name that ends in .json or .xml');
  requireWritableFile(file);
}

function renderReport(file: string, report: ConformanceReport): string {
  return file.toLowerCase().endsWith('.xml')
    ? renderJunitConformance(report)
    : `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`;
}

async function showReport({ output, globals }: CommandContext, report: ConformanceReport): Promise<void> {
  const isWhole = output.format === 'json' || output.format === 'yaml' || globals.value('query') !== undefined;
  if (isWhole) await output.data(report);
  else await output.list(report.results, resultView);
  const { holds, differs, open_choice, not_testable } = report.counts;
  await output.note(
    `${holds} statements hold, ${differs} differ, ${open_choice} are open choices, ${not_testable} were not tested.`,
  );
  if (report.left.length > 0) await output.warn(`could not remove: ${report.left.join(', ')}`);
}

const resultView: ListView<ConformanceResult> = {
  isReport: true,
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Section', value: (row) => row.section },
    { name: 'Status', value: (row) => row.status },
    { name: 'Statement', value: (row) => row.text },
    { name: 'Detail', value: (row) => describeConformanceResult(row) },
  ],
};

function differenceError({ results, auth_url }: ConformanceReport): CliError {
  const ids = results.filter(({ status }) => status === 'differs').map(({ id }) => id);
  return new CliError(
    'conformance_differs',
    `${auth_url} breaks ${ids.length} ${ids.length === 1 ? 'statement' : 'statements'} of the specification`,
    {
      detail: ids.join(', '),
      hint: 'read what was sent and received: run the same command with `-o json --query "results[?status==\'differs\']"`',
    },
  );
}
