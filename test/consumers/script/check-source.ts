// A script of another project: prints the verdict of a source and what blocks it.
import { PreflightError, type PreflightFinding, preflight } from 'cloudctl/preflight';

try {
  const report = await preflight(process.argv[2] ?? '', { targetVersion: '17', allowPrivateAddress: true });
  const blocking: readonly PreflightFinding[] = report.findings.filter(({ status }) => status === 'fail');
  console.log(report.verdict, blocking.map(({ id }) => id).join(' '));
} catch (error) {
  if (!(error instanceof PreflightError)) throw error;
  console.log(error.code);
}
