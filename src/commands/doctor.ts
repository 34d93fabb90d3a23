import { diagnose, doctorReport, type Finding, summarize } from '../auth/doctor/index.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandSpec } from '../cli/command.ts';
import { wrapWords } from '../cli/text.ts';
import { globalSettings } from '../context/globals.ts';
import type { CommandContext } from '../context.ts';

const view: ListView<Finding> = {
  isReport: true,
  columns: [
    { name: 'Status', value: ({ status }) => status },
    { name: 'ID', value: ({ id }) => id },
    { name: 'Observed', value: ({ observed }) => observed },
    { name: 'Hint', value: ({ hint }) => hint },
  ],
};

export const doctorCommand: CommandSpec<CommandContext> = {
  description:
    'Checks the configuration, both servers and their clocks, every registered port, the browser, the credential store, the environment and PATH. Runs the program of `token_command`. Sends no secret. Changes nothing, but writes and removes a test item in the credential store. Exits with 1 if a login would fail.',
  examples: [
    { text: 'Find out why a login fails', command: 'cloudctl doctor' },
    {
      text: 'Print the failed checks in a script',
      command: 'cloudctl doctor -o json --query "findings[?status==\'failed\']"',
    },
  ],
  fields: ['ok', 'findings', 'status', 'id', 'observed', 'hint'],
  run: async (context) => {
    const findings: Finding[] = [];
    const profile = context.globals.value('profile');
    for await (const part of diagnose(context, profile, globalSettings(context.globals))) findings.push(...part);
    await context.progress.stop();
    const report = doctorReport(findings);
    const { output, globals } = context;
    const queried = globals.value('query') !== undefined;
    const picked = globals.values('format').length > 0;
    const aim = findings.some(({ id }) => id === 'token-command') ? 'requests' : 'a login';
    const summary = summarize(findings, aim);
    const { columns } = context.host.stdout;
    if (output.format === 'table' && !queried && !picked)
      await output.text(
        `${wrapWords(summary, columns ?? Number.POSITIVE_INFINITY, 0)}\n\n${findingLines(findings, columns)}`,
      );
    else {
      await output.note(summary);
      // Columns and CSV show the findings as rows; JSON and queries get the whole report.
      if (!queried && (picked || output.format === 'csv')) await output.list(findings, view);
      else await output.object(report, { columns: [{ name: 'Ok', value: ({ ok }) => ok }] });
    }
    return report.ok ? 0 : 1;
  },
};

/**
 * The findings of `cloudctl doctor` as text. The findings are not printed as a table, because a table would cut off the hints
 * at the width of the terminal; on a terminal, lines break between words.
 */
function findingLines(findings: readonly Finding[], columns: number | undefined): string {
  const indent = Math.max(...findings.map(({ id }) => id.length)) + 11;
  const room = Math.max(columns ?? Number.POSITIVE_INFINITY, indent + 20);
  const wrap = (text: string, at: number): string => wrapWords(' '.repeat(at) + text, room, at);
  return findings
    .flatMap(({ status, id, observed, hint }) => {
      const texts = [sanitizeLine(observed), ...(hint === undefined ? [] : [`hint: ${sanitizeLine(hint, 1000)}`])];
      // The terminal would break a path that is longer than the column: it has the whole line, below the id.
      const isNarrow = texts.some((text) => text.split(' ').some((word) => indent + word.length > room));
      const [first = '', ...more] = texts.map((text) => wrap(text, isNarrow ? 2 : indent));
      const head = `${status.padEnd(7)}  ${id.padEnd(indent - 9)}`;
      return isNarrow ? [head.trimEnd(), first, ...more] : [`${head}${first.slice(indent)}`, ...more];
    })
    .join('\n');
}
