import { createHash } from 'node:crypto';
import { escapeMarkdown, escapeXml, markdownCode, printableJson } from '../../../base/sanitize.ts';
import type { CheckFinding } from '../finding.ts';
import { capitalized, isAccepted, locationOf, titleOf } from './entries.ts';
import { addressOf, type Model } from './model.ts';

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

/**
 * SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html) with what code scanning requires: one
 * rule for each check, one result for each failure or warning that is not accepted, one notification for each check
 * without a result. Code scanning rejects a result without a file. A database is not a file, so `uri` names a file of
 * the repository.
 */
export function renderSarif(model: Model, version: string, uri: string | undefined): string {
  const { report, sentence } = model;
  const rules = [...new Map(report.findings.map((finding) => [finding.id, finding])).values()].map(ruleOf);
  const indexes = new Map(rules.map(({ id }, index) => [id, index]));
  const unknown = report.findings.filter(({ status }) => status === 'unknown');
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'cloudctl db preflight', semanticVersion: version, rules } },
        automationDetails: { id: `db-preflight/${addressOf(report)}/` },
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
        properties: { verdict: report.verdict, words: sentence, ok: report.ok, proven: report.proven },
        results: report.findings
          .filter((one) => !isAccepted(one) && (one.status === 'fail' || one.status === 'warn'))
          .map((finding) => resultOf(finding, indexes.get(finding.id), model, uri)),
      },
    ],
  };
  return printableJson(log);
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
    shortDescription: { text: capitalized(title) },
    fullDescription: { text: `${passes} ${evaluated}` },
    help: {
      text: `${passes} ${evaluated}${section}\n\n${results} To accept the findings of this check, run the preflight with --accept ${id}.`,
      markdown: `${escapeMarkdown(`${passes} ${evaluated}${section}`)}\n\n${results} To accept the findings of this check, run the preflight with ${markdownCode(`--accept ${id}`)}.`,
    },
    helpUri: manualPages.find((page) => page.id === id)?.url,
    properties: { tags: ['database', 'migration'], precision: 'high' },
  };
}

function resultOf(
  finding: CheckFinding,
  ruleIndex: number | undefined,
  { report, source }: Model,
  uri: string | undefined,
) {
  const { id, database, status } = finding;
  const place = locationOf(finding);
  const identity = JSON.stringify([report.engine, addressOf(report), id, database ?? null]);
  return {
    ruleId: id,
    ruleIndex,
    kind: 'fail',
    level: status === 'fail' ? 'error' : 'warning',
    message: messageOf(finding),
    locations: [
      {
        ...(uri === undefined ? {} : { physicalLocation: { artifactLocation: { uri }, region: firstCharacter } }),
        logicalLocations: [{ name: place, fullyQualifiedName: `${source} ${place}`, kind: 'resource' }],
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
    `${titleOf(finding)}.`,
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

/** The pages of the PostgreSQL and Redis manuals that explain what checks read, with the ids of the checks. */
const postgresqlPages = [
  ['runtime-config-wal.html', 'wal-level'],
  [
    'runtime-config-replication.html',
    'slots-vs-dbs slots-free wal-senders wal-sender-timeout slot-retention sync-standby-names',
  ],
  ['runtime-config-resource.html', 'worker-processes decoding-mem temp-file-limit'],
  ['runtime-config-connection.html', 'listen-addresses conn-headroom'],
  ['auth-pg-hba-conf.html', 'hba-rule auth-hba'],
  ['auth-password.html', 'auth-method auth-password'],
  ['ssl-tcp.html', 'tls-negotiate tls-required tls-cert'],
  ['role-attributes.html', 'superuser repl-connection'],
  ['ddl-priv.html', 'grants'],
  ['logical-replication-publication.html', 'replica-identity full-without-eq'],
  ['logical-replication-restrictions.html', 'sequences large-objects foreign-tables matviews ddl-activity'],
  ['sql-createtable.html', 'unlogged temp-tables'],
  ['sql-prepare-transaction.html', 'prepared-xacts'],
  ['ddl-rowsecurity.html', 'rls'],
  ['routine-vacuuming.html', 'xid-wraparound'],
  ['event-triggers.html', 'event-triggers'],
  ['manage-ag-tablespaces.html', 'tablespaces'],
  ['multibyte.html', 'encoding'],
  ['collation.html', 'collation'],
] as const;
const redisPages = [
  ['operate/oss_and_stack/management/security/', 'protected-mode'],
  ['operate/oss_and_stack/management/security/acl/', 'acl-psync acl-scan'],
  ['operate/oss_and_stack/management/security/encryption/', 'redis-tls tls-replication'],
  [
    'operate/oss_and_stack/management/replication/',
    'psync-command repl-backlog repl-timeout diskless-delay min-replicas',
  ],
  ['operate/oss_and_stack/management/persistence/', 'bgsave-broken fork-memory'],
  ['develop/reference/clients/', 'replica-output-buffer maxclients'],
  ['develop/reference/eviction/', 'maxmemory evicting-now'],
  ['develop/pubsub/keyspace-notifications/', 'keyspace-notifications'],
] as const;

export const manualPages: readonly { readonly id: string; readonly url: string }[] = [
  ...postgresqlPages.map(([page, ids]) => ({ url: `https://www.postgresql.org/docs/current/${page}`, ids })),
  ...redisPages.map(([page, ids]) => ({ url: `https://redis.io/docs/latest/${page}`, ids })),
].flatMap(({ url, ids }) => ids.split(' ').map((id) => ({ id, url })));
