import { createHash } from 'node:crypto';
import { escapeMarkdown, escapeUnprintable, markdownCode } from '../../../base/sanitize.ts';
import type { CheckFinding } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
import {
  capitalizeUnlessSettingOrFileName,
  findingLocation,
  findingTitle,
  formatPreflightSourceAddress,
  formatPreflightSourceWithUser,
  verdictSentence,
} from './report-text.ts';

/** The page of the PostgreSQL or Redis manual that explains what a check reads; undefined if there is no such page. */
export function databaseManualPageOfCheck(checkId: string): string | undefined {
  const found = Object.entries(pages).find(([, ids]) => ids.includes(checkId));
  return found?.[0];
}

const postgresql = 'https://www.postgresql.org/docs/current';
const redis = 'https://redis.io/docs/latest';

/** Maps a page of the manual to the ids of the checks that the page explains. */
const pages: Readonly<Record<string, readonly string[]>> = {
  [`${postgresql}/runtime-config-wal.html`]: ['wal-level'],
  [`${postgresql}/runtime-config-replication.html`]: [
    'slots-vs-dbs',
    'slots-free',
    'wal-senders',
    'wal-sender-timeout',
    'slot-retention',
    'sync-standby-names',
  ],
  [`${postgresql}/runtime-config-resource.html`]: ['worker-processes', 'decoding-mem', 'temp-file-limit'],
  [`${postgresql}/runtime-config-connection.html`]: ['listen-addresses', 'conn-headroom'],
  [`${postgresql}/auth-pg-hba-conf.html`]: ['hba-rule', 'auth-hba'],
  [`${postgresql}/auth-password.html`]: ['auth-method', 'auth-password'],
  [`${postgresql}/ssl-tcp.html`]: ['tls-negotiate', 'tls-required', 'tls-cert'],
  [`${postgresql}/role-attributes.html`]: ['superuser', 'repl-connection'],
  [`${postgresql}/ddl-priv.html`]: ['grants'],
  [`${postgresql}/logical-replication-publication.html`]: ['replica-identity', 'full-without-eq'],
  [`${postgresql}/logical-replication-restrictions.html`]: [
    'sequences',
    'large-objects',
    'foreign-tables',
    'matviews',
    'ddl-activity',
  ],
  [`${postgresql}/sql-createtable.html`]: ['unlogged', 'temp-tables'],
  [`${postgresql}/sql-prepare-transaction.html`]: ['prepared-xacts'],
  [`${postgresql}/ddl-rowsecurity.html`]: ['rls'],
  [`${postgresql}/routine-vacuuming.html`]: ['xid-wraparound'],
  [`${postgresql}/event-triggers.html`]: ['event-triggers'],
  [`${postgresql}/manage-ag-tablespaces.html`]: ['tablespaces'],
  [`${postgresql}/multibyte.html`]: ['encoding'],
  [`${postgresql}/collation.html`]: ['collation'],
  [`${redis}/operate/oss_and_stack/management/security/`]: ['protected-mode'],
  [`${redis}/operate/oss_and_stack/management/security/acl/`]: ['acl-psync', 'acl-scan'],
  [`${redis}/operate/oss_and_stack/management/security/encryption/`]: ['redis-tls', 'tls-replication'],
  [`${redis}/operate/oss_and_stack/management/replication/`]: [
    'psync-command',
    'repl-backlog',
    'repl-timeout',
    'diskless-delay',
    'min-replicas',
  ],
  [`${redis}/operate/oss_and_stack/management/persistence/`]: ['bgsave-broken', 'fork-memory'],
  [`${redis}/develop/reference/clients/`]: ['replica-output-buffer', 'maxclients'],
  [`${redis}/develop/reference/eviction/`]: ['maxmemory', 'evicting-now'],
  [`${redis}/develop/pubsub/keyspace-notifications/`]: ['keyspace-notifications'],
};

/** Ids of all checks that a page of the manual explains. */
export const idsOfChecksExplainedInDatabaseManual: readonly string[] = Object.values(pages).flat();

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
