import { escapeUnprintable } from '../../cli/sanitize.ts';
import type { PreflightReport } from '../report.ts';
import { htmlReport } from './html-report.ts';
import { junitReport } from './junit-report.ts';
import { markdownReport } from './markdown-report.ts';
import { sarifReport } from './sarif-report.ts';

type Render = (report: PreflightReport, version: string) => string;

/** By the ending of the file's name. */
const formats: Readonly<Record<string, Render>> = {
  '.json': (report) => `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`,
  '.md': markdownReport,
  '.html': htmlReport,
  '.xml': junitReport,
  '.sarif': sarifReport,
};

export const reportFileExtensions: readonly string[] = Object.keys(formats);

/** undefined: the name ends in nothing known. `version` is the program's. */
export function renderReport(file: string, report: PreflightReport, version: string): string | undefined {
  const ending = reportFileExtensions.find((known) => file.toLowerCase().endsWith(known));
  return ending === undefined ? undefined : formats[ending]?.(report, version);
}
