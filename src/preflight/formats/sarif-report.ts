import { createHash } from 'node:crypto';
import { escapeMarkdown, escapeUnprintable, markdownCode } from '../../base/sanitize.ts';
import type { CheckFinding } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
import { databaseManualPageOfCheck } from './manual-page.ts';
import {
  capitalizeUnlessSettingOrFileName,
  findingLocation,
  findingTitle,
  formatPreflightSourceAddress,
  formatPreflightSourceWithUser,
  verdictSentence,
} from './report-text.ts';

/**
 * SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html) with what code scanning requires: one
 * rule for each check, one result for each failure or warning that is not accepted, one notification for each check
 * without a result. Code scanning rejects a result without a file. A database is not a file, so `uri` names a file of
 * the repository.
 */
export function renderSarifPreflightReport(report: PreflightReport, version: string, uri: string | undefined): string {
  const rules = [...new Map(report.findings.map((finding) => [finding.id, finding])).values()].map(ruleOf);
  const indexes = new Map(rules.map(({ id }, index) => [id, index]));
  const unknown = report.findings.filter(({ status }) => status === 'unknown');
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'cloudctl db preflight', semanticVersion: version, rules } },
        automationDetails: { id: `db-preflight/${formatPreflightSourceAddress(report)}/` },
        invocations: [
          {
            executionSuccessful: true,
            startTimeUtc: report.started_at,
            toolExecutionNotifications: unknown.map((finding) => ({
              associatedRule: { id: finding.id, index: indexes.get(finding.id) },
              level: 'warning',
              message: messageOf(finding),
            })),
          },
        ],
        properties: { verdict: report.verdict, words: verdictSentence(report), ok: report.ok, proven: report.proven },
        results: report.findings
          .filter(({ status, accepted }) => accepted !== true && (status === 'fail' || status === 'warn'))
          .map((finding) => resultOf(finding, indexes.get(finding.id), report, uri)),
      },
    ],
  };
  return `${escapeUnprintable(JSON.stringify(log, null, 2))}\n`;
}

/**
 * The description of a check, which is the same in every report. The results of the check contain what was observed.
 */
function ruleOf({ id, title, scope, spec }: CheckFinding) {
  const passes = `The check passes when ${title}.`;
  const evaluated = scope === 'server' ? 'It is evaluated once.' : 'It is evaluated for each database.';
  const section = spec === undefined ? '' : ` It is based on rule ${spec} of the service (docs/service.md).`;
  const results = 'Each result has the observed value, the required value and the fix.';
  return {
    id,
    shortDescription: { text: capitalizeUnlessSettingOrFileName(title) },
    fullDescription: { text: `${passes} ${evaluated}` },
    help: {
      text: `${passes} ${evaluated}${section}\n\n${results} To accept the findings of this check, run the preflight with --accept ${id}.`,
      markdown: `${escapeMarkdown(`${passes} ${evaluated}${section}`)}\n\n${results} To accept the findings of this check, run the preflight with ${markdownCode(`--accept ${id}`)}.`,
    },
    helpUri: databaseManualPageOfCheck(id),
    properties: { tags: ['database', 'migration'], precision: 'high' },
  };
}

function resultOf(
  finding: CheckFinding,
  ruleIndex: number | undefined,
  report: PreflightReport,
  uri: string | undefined,
) {
  const { id, database, status } = finding;
  const place = findingLocation(finding);
  const identity = JSON.stringify([report.engine, formatPreflightSourceAddress(report), id, database ?? null]);
  return {
    ruleId: id,
    ruleIndex,
    kind: 'fail',
    level: status === 'fail' ? 'error' : 'warning',
    message: messageOf(finding),
    locations: [
      {
        ...(uri === undefined ? {} : { physicalLocation: { artifactLocation: { uri }, region: firstCharacter } }),
        logicalLocations: [
          { name: place, fullyQualifiedName: `${formatPreflightSourceWithUser(report)} ${place}`, kind: 'resource' },
        ],
      },
    ],
    // GitHub code scanning reads only the key primaryLocationLineHash. The hash identifies the subject of the finding, and
    // does not change with the observed value.
    partialFingerprints: {
      primaryLocationLineHash: `${createHash('sha256').update(identity).digest('hex').slice(0, 32)}:1`,
    },
  };
}

/** GitHub code scanning requires all four members of a SARIF region. */
const firstCharacter = { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 };

/** The message of a finding in SARIF. GitHub code scanning shows its first sentence as the title. */
function messageOf(finding: CheckFinding): { readonly text: string } {
  const { observed, required, detail, fix } = finding;
  const sentences = [
    `${findingTitle(finding)}.`,
    `Observed: ${observed}.`,
    required === undefined ? undefined : `Required: ${required}.`,
    detail,
    fix === undefined ? undefined : `Fix: ${fix.text}`,
  ];
  return { text: withoutLinks(sentences.filter((part) => part !== undefined).join(' ')) };
}

/** Escapes `](`, so that a SARIF viewer does not show a name of the source as a link (SARIF 2.1.0 §3.11.6). */
function withoutLinks(text: string): string {
  return text.replaceAll('](', '\\](');
}
