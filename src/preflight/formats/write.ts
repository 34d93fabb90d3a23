import { escapeUnprintable } from '../../cli/sanitize.ts';
import type { Report } from '../report.ts';
import { htmlReport } from './html.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { sarifReport } from './sarif.ts';

type Render = (report: Report, version: string) => string;

/** By the ending of the file's name. */
const formats: Readonly<Record<string, Render>> = {
  '.json': (report) => `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`,
  '.md': markdownReport,
  '.html': htmlReport,
  '.xml': junitReport,
  '.sarif': sarifReport,
};

export const reportEndings: readonly string[] = Object.keys(formats);

/** undefined: the name ends in nothing known. `version` is the program's. */
export function renderReport(file: string, report: Report, version: string): string | undefined {
  const ending = reportEndings.find((known) => file.toLowerCase().endsWith(known));
  return ending === undefined ? undefined : formats[ending]?.(report, version);
}
