import { renderFixScript } from '../../../src/db/preflight/fix-script.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import type { RedisServer } from '../../fixtures/redis.ts';
import type { RedisCase } from './case.ts';

/** Runs the fix script of a report with redis-cli, and the preflight again. Remarks: what differs from the report before. */
export async function applyFixes(
  { verdict, optional }: NonNullable<RedisCase['fixes']>,
  before: PreflightReport,
  source: RedisServer,
  preflight: () => Promise<PreflightReport>,
): Promise<{ readonly report: PreflightReport; readonly remarks: readonly string[] }> {
  const script = renderFixScript(before) ?? '';
  const replies = source.script(optional === true ? script.replace(/^# {3}(?=[A-Z])/gm, '') : script);
  const report = await preflight();
  const predicted = before.verdict_after_fixes?.verdict ?? before.verdict;
  return {
    report,
    remarks: [
      ...(before.verdict === verdict ? [] : [`before the script the verdict was ${before.verdict}`]),
      ...(predicted === report.verdict ? [] : [`the report named ${predicted}, the verdict is ${report.verdict}`]),
      ...replies.filter((reply) => reply !== 'OK' && reply !== ''),
    ],
  };
}
