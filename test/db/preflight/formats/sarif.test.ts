import { describe, expect, it } from 'vitest';
import { manualPages } from '../../../../src/db/preflight/formats/ci.ts';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import { redisChecks } from '../../../../src/db/preflight/redis/checks.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { schemaErrors } from '../../../fixtures/json-schema.ts';
import { findings, report } from '../sample.ts';
import { codeScanningSchema } from './sarif-schema.ts';
import { rendered } from './words.ts';

interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation?: { readonly artifactLocation: { readonly uri: string } };
    readonly logicalLocations: readonly { readonly name: string }[];
  }[];
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
}

/** The only run, valid for code scanning when a file is given. */
function runOf(one: PreflightReport, uri?: string) {
  const log = JSON.parse(rendered('a.sarif', one, uri));
  expect(schemaErrors(codeScanningSchema, log).length === 0).toBe(uri !== undefined);
  return log.runs[0] as {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] } };
    readonly properties: object;
    readonly automationDetails: { readonly id: string };
    readonly invocations: readonly { readonly toolExecutionNotifications: readonly object[] }[];
    readonly results: readonly SarifResult[];
  };
}

const uri = 'db/schema.sql';

describe('SARIF', () => {
  it('has one rule for each check, and results for failures and warnings only', () => {
    const { tool, properties, results } = runOf(report, uri);
    expect(tool.driver).toMatchObject({ name: 'cloudctl db preflight', semanticVersion: '1.2.3' });
    expect(properties).toMatchObject({ verdict: 'dump', ok: false, proven: true });
    expect(tool.driver.rules.map(({ id }) => id)).toEqual(findings.map(({ id }) => id));
    const expected = findings.filter(({ status }) => status === 'fail' || status === 'warn');
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual(
      expected.map(({ id, status }) => [id, status === 'fail' ? 'error' : 'warning']),
    );
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  });

  it('has the same rules whatever was found', () => {
    const passed = findings.map((finding) => ({ ...finding, status: 'pass', headline: 'x', observed: 'y' }) as const);
    expect(runOf({ ...report, findings: passed }, uri).tool).toEqual(runOf(report, uri).tool);
  });

  it('leaves out what was accepted, and has no result for a check without one but a notification', () => {
    const one = { ...report, findings: findings.map((finding) => ({ ...finding, accepted: true })) };
    const { results, invocations } = runOf(one, uri);
    expect(results).toEqual([]);
    expect(invocations[0]?.toolExecutionNotifications).toMatchObject([
      { associatedRule: { id: 'version-not-newer', index: findings.findIndex(({ status }) => status === 'unknown') } },
    ]);
  });

  it('refers to the file that was given, and has the database as a logical location', () => {
    for (const { locations } of runOf(report, uri).results)
      expect(locations[0]?.physicalLocation?.artifactLocation.uri).toBe(uri);
    const without = runOf(report).results;
    expect(without.map(({ locations }) => locations[0]?.physicalLocation)).toEqual(without.map(() => undefined));
    expect(without.map(({ locations }) => locations[0]?.logicalLocations[0]?.name)).toContain('database shop');
  });

  it('has a fingerprint for each finding, which depends on source, check and database only', () => {
    const prints = (one: PreflightReport) =>
      runOf(one, uri).results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash);
    const first = prints(report);
    expect(new Set(first).size).toBe(first.length);
    const later = findings.map((finding) => ({ ...finding, observed: 'other', detail: 'other' }));
    expect(prints({ ...report, findings: later, started_at: '2027-01-01T00:00:00.000Z' })).toEqual(first);
    const elsewhere = prints({ ...report, source: { ...report.source, port: 5433 } });
    expect(elsewhere.filter((print) => first.includes(print))).toEqual([]);
    const { automationDetails } = runOf({ ...report, source: { ...report.source, host: 'db.example.com' } }, uri);
    expect(automationDetails.id).toBe('db-preflight/db.example.com:5432/');
  });

  it('has no link that a name of the source makes', () => {
    const observed = '[text](https://example.com)';
    const { results } = runOf({ ...report, findings: [{ ...findings[0]!, observed }] }, uri);
    expect(results[0]?.message.text).toContain('[text\\](https://example.com)');
  });
});

it('every check with a page of a manual exists, and has one page', () => {
  const known = new Set([...postgresqlChecks, ...redisChecks].map(({ id }) => id));
  const ids = manualPages.map(({ id }) => id);
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain('host-parse');
});

it.each([
  ['wal-level', 'https://www.postgresql.org/docs/current/runtime-config-wal.html'],
  ['protected-mode', 'https://redis.io/docs/latest/operate/oss_and_stack/management/security/'],
])('the page of %s is %s', (id, url) => expect(manualPages).toContainEqual({ id, url }));
