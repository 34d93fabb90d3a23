import { escapeUnprintable } from '../../sanitize/json-text.ts';
import type { PreflightReport } from '../report.ts';
import { htmlReport } from './html-report.ts';
import { junitReport } from './junit-report.ts';
import { markdownReport } from './markdown-report.ts';
import { sarifReport } from './sarif-report.ts';

type Render = (report: PreflightReport, version: string, sarifUri: string | undefined) => string;

/** By file extension. */
const formats: Readonly<Record<string, Render>> = {
  '.json': (report) => `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`,
  '.md': markdownReport,
  '.html': htmlReport,
  '.xml': junitReport,
  '.sarif': sarifReport,
};

export const reportFileExtensions: readonly string[] = Object.keys(formats);

/**
 * Renders the report in the format that the file extension selects; undefined if there is no such format.
 * @param version of this program
 * @param sarifUri the file that results of SARIF refer to, relative to the root of its repository
 */
export function renderReport(
  file: string,
  report: PreflightReport,
  version: string,
  sarifUri?: string,
): string | undefined {
  const extension = reportFileExtensions.find((known) => file.toLowerCase().endsWith(known));
  return extension === undefined ? undefined : formats[extension]?.(report, version, sarifUri);
}
