import { escapeXml } from '../../base/sanitize.ts';
import { type ConformanceReport, type ConformanceResult, describeConformanceResult } from '../conformance-report.ts';

/**
 * JUnit XML after junit-10.xsd of the xUnit plugin of Jenkins: one case for each statement. A statement that differs is a
 * failure, one that was not tested is skipped, and the observations of an open choice are the output of its case.
 */
export function renderJunitConformance(report: ConformanceReport): string {
  const { results, counts, started_at, duration_ms } = report;
  const numbers = `tests="${results.length}" failures="${counts.differs}" errors="0" time="${(duration_ms / 1000).toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="cloudctl conformance" ${numbers}>`,
    `  <testsuite name="${escapeXml(report.auth_url)}" timestamp="${started_at}" ${numbers} skipped="${counts.not_testable}">`,
    ...results.map(renderCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function renderCase(result: ConformanceResult): string {
  const { id, section, text, status } = result;
  const head = `    <testcase classname="section ${escapeXml(section)}" name="${escapeXml(`${id}: ${text}`)}"`;
  const words = escapeXml(describeConformanceResult(result));
  if (status === 'differs') return `${head}><failure message="${words}"></failure></testcase>`;
  if (status === 'not_testable') return `${head}><skipped message="${words}"/></testcase>`;
  return words === '' ? `${head}/>` : `${head}><system-out>${words}</system-out></testcase>`;
}
