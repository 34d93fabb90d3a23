import { escapeUnprintable } from '../../sanitize/json-text.ts';
import type { Finding, FindingStatus } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
import { findingLocation, findingTitle, sourceLabel, verdictSentence } from './report-text.ts';

/**
 * Renders the report as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html): one rule for
 * each check, one result for each finding.
 */
export function sarifReport(report: PreflightReport, version: string): string {
  const ids = [...new Set(report.findings.map(({ id }) => id))];
  const titles = new Map(report.findings.map(({ id, title }) => [id, title]));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'cloudctl db preflight',
            version,
            rules: ids.map((id) => ({ id, shortDescription: { text: titles.get(id) ?? id } })),
          },
        },
        invocations: [{ executionSuccessful: true, startTimeUtc: report.started_at }],
        properties: { verdict: report.verdict, words: verdictSentence(report), ok: report.ok, proven: report.proven },
        results: report.findings.map((finding) => resultOf(finding, ids.indexOf(finding.id), sourceLabel(report))),
      },
    ],
  };
  return `${escapeUnprintable(JSON.stringify(log, null, 2))}\n`;
}

function resultOf(finding: Finding, ruleIndex: number, source: string): object {
  const { id, observed, required, detail, fix, status, accepted } = finding;
  const sentences = [
    `${findingTitle(finding)}.`,
    `Observed: ${observed}.`,
    required === undefined ? undefined : `Required: ${required}.`,
    detail,
    fix === undefined ? undefined : `Fix: ${fix.text}`,
  ];
  return {
    ruleId: id,
    ruleIndex,
    kind: kinds[status],
    level: levels[status],
    message: { text: withoutLinks(sentences.filter((part) => part !== undefined).join(' ')) },
    locations: [
      {
        logicalLocations: [
          {
            name: findingLocation(finding),
            fullyQualifiedName: `${source} ${findingLocation(finding)}`,
            kind: 'resource',
          },
        ],
      },
    ],
    ...(accepted === true ? { suppressions: [{ kind: 'external', justification: '--accept' }] } : {}),
  };
}

/** Escapes brackets in names of the source: SARIF messages treat brackets before a parenthesis as a link (§3.11.6). */
function withoutLinks(text: string): string {
  return text.replaceAll('](', '\\](');
}

/** SARIF allows a level other than none only for the kind `fail` (§3.27.10). */
const kinds: Readonly<Record<FindingStatus, string>> = {
  fail: 'fail',
  warn: 'fail',
  info: 'informational',
  pass: 'pass',
  skip: 'notApplicable',
  unknown: 'open',
};
const levels: Readonly<Record<FindingStatus, string>> = {
  fail: 'error',
  warn: 'warning',
  info: 'none',
  pass: 'none',
  skip: 'none',
  unknown: 'none',
};
