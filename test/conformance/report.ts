import { escapeXml } from '../../src/base/sanitize.ts';

/** The result of testing one statement, or of observing one open choice. */
export interface Result {
  /** The number of a statement, or the id of an open choice. */
  readonly id: string;
  readonly rule: string;
  readonly text: string;
  readonly status: Status;
  /** Why the statement was not tested. */
  readonly reason?: string;
  /** For `differs`: what the statement requires, what was sent and what was received. */
  readonly expected?: string;
  readonly sent?: string;
  readonly received?: string;
  /** For an open choice: what the server does in each case, and the cases in which the sandbox does something else. */
  readonly observed?: Readonly<Record<string, string>>;
  readonly unlike_sandbox?: readonly string[];
}

export type Status = 'holds' | 'differs' | 'open_choice' | 'not_testable';

export interface Report {
  readonly auth_url: string;
  readonly base_url: string;
  /** Whether nothing differs. */
  readonly ok: boolean;
  readonly writes: boolean;
  readonly counts: Readonly<Record<Status, number>>;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly results: readonly Result[];
  /** The objects that the run created on the server and could not remove. */
  readonly left: readonly string[];
}

/** One line about a result: the reason, the difference or the observations. */
export function describeResult(result: Result): string {
  const { status, reason, expected, sent, received, observed = {} } = result;
  if (status === 'not_testable') return reason ?? '';
  if (status === 'differs' && expected !== undefined)
    return `expected ${expected}; sent ${sent ?? ''}; received ${received ?? ''}`;
  return Object.entries(observed)
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}

/**
 * JUnit XML after junit-10.xsd of the xUnit plugin of Jenkins: one case for each statement. A statement that differs is a
 * failure, one that was not tested is skipped, and the observations of an open choice are the output of its case.
 */
export function renderJunit(report: Report): string {
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

function renderCase(result: Result): string {
  const { id, rule, text, status } = result;
  const head = `    <testcase classname="rule ${escapeXml(rule)}" name="${escapeXml(`${id}: ${text}`)}"`;
  const words = escapeXml(describeResult(result));
  if (status === 'differs') return `${head}><failure message="${words}"></failure></testcase>`;
  if (status === 'not_testable') return `${head}><skipped message="${words}"/></testcase>`;
  return words === '' ? `${head}/>` : `${head}><system-out>${words}</system-out></testcase>`;
}
