import { escapeUnprintable } from '../../base/sanitize.ts';
import type { PreflightReport } from '../report.ts';
import { renderHtmlPreflightReport } from './html-report.ts';
import { renderJunitPreflightReport } from './junit-report.ts';
import { renderMarkdownPreflightReport } from './markdown-report.ts';
import { renderSarifPreflightReport } from './sarif-report.ts';

type Render = (report: PreflightReport, version: string, sarifUri: string | undefined) => string;

/** By file extension. */
const formats: Readonly<Record<string, Render>> = {
  '.json': (report) => `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`,
  '.md': renderMarkdownPreflightReport,
  '.html': renderHtmlPreflightReport,
  '.xml': renderJunitPreflightReport,
  '.sarif': renderSarifPreflightReport,
};

export const preflightReportFileExtensions: readonly string[] = Object.keys(formats);

/**
 * Renders the report in the format that the file extension selects; undefined if there is no such format.
 * @param version of this program
 * @param sarifUri the file that results of SARIF refer to, relative to the root of its repository
 */
export function renderPreflightReport(
  file: string,
  report: PreflightReport,
  version: string,
  sarifUri?: string,
): string | undefined {
  const extension = preflightReportFileExtensions.find((known) => file.toLowerCase().endsWith(known));
  return extension === undefined ? undefined : formats[extension]?.(report, version, sarifUri);
}
