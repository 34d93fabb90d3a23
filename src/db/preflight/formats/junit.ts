import { escapeXml } from '../../../base/sanitize.ts';
import type { CheckFinding } from '../finding.ts';
import { isAccepted, locationOf, titleOf } from './entries.ts';
import type { Model } from './model.ts';

/**
 * JUnit XML after junit-10.xsd of the xUnit plugin of Jenkins, the most widely read schema: one suite, one case for
 * each finding. A finding that blocks is a JUnit failure, an `unknown` finding an error; warnings are written to the
 * output of the test case.
 */
export function renderJunit({ report, source, sentence }: Model): string {
  const { findings } = report;
  const failures = findings.filter(isFailure).length;
  const errors = findings.filter(({ status }) => status === 'unknown').length;
  const skipped = findings.filter(({ status }) => status === 'skip').length;
  const counts = `tests="${findings.length}" failures="${failures}" errors="${errors}" time="${(report.duration_ms / 1000).toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="cloudctl preflight" ${counts}>`,
    `  <testsuite name="${escapeXml(source)}" timestamp="${report.started_at}" ${counts} skipped="${skipped}">`,
    `    <properties><property name="verdict" value="${report.verdict}"/><property name="words" value="${escapeXml(sentence)}"/></properties>`,
    ...findings.map(testcase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testcase(finding: CheckFinding): string {
  const head = `    <testcase classname="${escapeXml(locationOf(finding))}" name="${escapeXml(`${finding.id}: ${titleOf(finding)}`)}"`;
  const body = bodyOf(finding);
  return body === '' ? `${head}/>` : `${head}>${body}</testcase>`;
}

function bodyOf(finding: CheckFinding): string {
  const { status, observed, required, detail, fix } = finding;
  const message = required === undefined ? observed : `observed ${observed}, required ${required}`;
  const words = [detail, fix === undefined ? undefined : `Fix: ${fix.text}`]
    .filter((part) => part !== undefined)
    .join('\n');
  if (isFailure(finding)) return `<failure message="${escapeXml(message)}">${escapeXml(words)}</failure>`;
  if (status === 'unknown') return `<error message="${escapeXml(message)}">${escapeXml(words)}</error>`;
  if (status === 'skip') return `<skipped message="${escapeXml(observed)}"/>`;
  return status === 'pass'
    ? ''
    : `<system-out>${escapeXml(`${status}: ${message}${words === '' ? '' : `\n${words}`}`)}</system-out>`;
}

function isFailure(finding: CheckFinding): boolean {
  return finding.status === 'fail' && !isAccepted(finding);
}
