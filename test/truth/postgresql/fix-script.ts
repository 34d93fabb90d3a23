import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sectionsOf, uncommented } from '../../../scripts/psql.mjs';
import { fixSections, renderFixScript } from '../../../src/db/preflight/fix-script.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { which } from '../../fixtures/needs.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import type { BestMethod } from '../row.ts';
import { contentsOf } from './rows.ts';

/** The script that a case runs before its migration. */
export interface FixesOfCase {
  /** The verdict before the script. */
  readonly verdict: BestMethod;
  /** A person removes the comment marks of the optional part, too. */
  readonly optional?: true;
  /** A person has read the statements that are for review, and removes their comment marks. */
  readonly reviewed?: true;
}

export interface FixedSource {
  readonly report: PreflightReport;
  /** What differs from the report before, or changed in the data. */
  readonly remarks: readonly string[];
}

/** Runs the fix script of a report with psql, restarts the server where the script says so, and runs the preflight again. */
export async function applyFixes(
  { verdict, optional, reviewed }: FixesOfCase,
  before: PreflightReport,
  source: Postgres,
  databases: readonly string[],
  preflight: () => Promise<PreflightReport>,
): Promise<FixedSource> {
  const script = renderFixScript(before);
  const rows = () => Promise.all(databases.map((name) => contentsOf(source, name)));
  const data = await rows();
  if (script !== undefined) {
    const extra = sectionsOf(script).filter(({ isOptional }) => (isOptional ? optional : reviewed) === true);
    runPsql(source, 'postgres', [script, ...extra.flatMap((section) => uncommented(section).lines)].join('\n'));
    const sections = fixSections(before).filter(({ isOptional }) => optional === true || !isOptional);
    if (sections.some(({ kind }) => kind === 'restart')) await source.restart();
    // The reload at the end of the script takes a moment.
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const [changed, report] = [await rows(), await preflight()];
  const predicted = before.verdict_after_fixes?.verdict ?? before.verdict;
  return {
    report,
    remarks: [
      ...(before.verdict === verdict ? [] : [`before the script the verdict was ${before.verdict}`]),
      ...(predicted === report.verdict ? [] : [`the report named ${predicted}, the verdict is ${report.verdict}`]),
      ...(JSON.stringify(changed) === JSON.stringify(data) ? [] : ['the script changed rows of the source']),
    ],
  };
}

/** Runs a script as its header says; throws at the first error. */
export function runPsql(server: Postgres, database: string, script: string): void {
  const file = join(server.folder, 'script.sql');
  writeFileSync(file, script);
  const where = `host=${server.folder} port=${server.port} dbname=${database} user=postgres`;
  execFileSync(which('psql') ?? 'psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-f', file, where], {
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
