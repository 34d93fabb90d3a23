import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { CliError } from '../../src/base/errors.ts';
import { createStyles } from '../../src/cli/color.ts';
import type { ListView } from '../../src/cli/columns.ts';
import { printError } from '../../src/cli/error-output.ts';
import { createOutput } from '../../src/cli/output.ts';
import type { OutputFormat } from '../../src/cli/print.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { createMeasurer } from '../../src/cli/text.ts';
import type { DatabaseComparisonReport } from '../../src/db/cutover/comparison.ts';
import { formatDatabaseComparison } from '../../src/db/cutover/comparison-text.ts';
import type { RehearsalReport } from '../../src/db/cutover/rehearse/report.ts';
import { renderRehearsal } from '../../src/db/cutover/rehearse/text.ts';
import { renderFixScript, renderUndoScript } from '../../src/db/preflight/fix-script.ts';
import type { PreflightReport } from '../../src/db/preflight/report.ts';
import { reportExtensions } from '../../src/db/preflight/run-with-files.ts';
import type { StatusSample } from '../../src/db/watch/sample.ts';
import { nextLogLines } from '../../src/db/watch/view/lines.ts';
import { renderScreen } from '../../src/db/watch/view/screen.ts';
import { readCsv } from '../cli/read-csv.ts';
import { fakeClock, fakeSink } from '../cli/sink.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { onTerminal, rendered } from '../db/preflight/formats/words.ts';
import { report } from '../db/preflight/sample.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';
import { admin, authorizationQuery, authorize, MAYA, sandboxFor, send, signIn } from '../sandbox/requests.ts';

const plain = (text: string): string => text;
const styles = { bold: plain, dim: plain, red: plain, yellow: plain };

/** What a source can send, in every place of a report. Statements of fixes are quoted by their own rules. */
function reportWith(text: string): PreflightReport {
  return {
    ...report,
    source: { ...report.source, host: text, dbname: text, username: text, server_version: text },
    data_loss: [text],
    premises: [{ id: 'extensions', condition: text, databases: [text], settle: text, settled_by: text }],
    advice: { ignore_dbs: [text, 'b'], verdict: 'continuous' },
    databases: report.databases.map((database) => ({ ...database, name: text })),
    findings: report.findings.map(({ fix, ...finding }) => ({
      ...finding,
      ...{ observed: text, required: text, detail: text, objects: [text, text], headline: text },
      ...(finding.scope === 'database' ? { database: text } : { only: [text] }),
      ...(fix === undefined ? {} : { fix: { ...fix, text, by: text } }),
    })),
  };
}

function sampleWith(text: string): StatusSample {
  const bytes = { bytes_done: 1, bytes_total: 2 };
  const table = { name: text, state: 'copying', ...bytes, rows_done: 1, rows_total: 2 } as const;
  return {
    ...{ at: '2026-11-20T12:00:00.000Z', phase: 'copying', percent: 40, ...bytes, lag_bytes: 0, deadline: null },
    deadline_from: 'unknown',
    databases: [{ name: text, phase: 'copying', percent: 40, ...bytes, lag_bytes: 0, tables: [table] }],
    violations: [{ rule: 'no-ddl', database: text, observed: text, hint: text }],
    notes: [text],
  };
}

function rehearsalWith(text: string): RehearsalReport {
  const table = { name: text, rows_source: 1, rows_target: 0, state: 'differs', error: text } as const;
  const server = { host: text, port: 5432, version: text };
  return {
    ...{ schema_version: 1, ok: false, engine: 'postgresql', method: 'dump', source: server, target: server },
    databases: [
      { name: text, method: 'dump', seconds: 1, tables: [table], sequences: [], errors: [text], warnings: [text] },
    ],
    not_proven: [],
    failures: [{ database: text, object: text, reason: text }],
    violations: [{ rule: 'no-ddl', database: text, observed: text, hint: text }],
    warnings: [text],
    not_compared: [text],
    left: [{ side: 'source', database: text, object: text, statement: text, reason: text }],
    ...{ kept: false, preflight: {}, started_at: '2026-11-20T12:00:00.000Z', seconds: 1 },
  };
}

function comparisonWith(text: string): DatabaseComparisonReport {
  const { source, target, databases } = rehearsalWith(text);
  const sequence = { name: text, source: null, target: '1', state: 'differs' } as const;
  const tables = databases[0]?.tables ?? [];
  const compared = { name: text, tables, sequences: [sequence], not_compared: [text] };
  return {
    ...{ schema_version: 1, engine: 'postgresql', state: 'differs', source, target, not_compared: [text] },
    databases: [
      { ...compared, state: 'differs' },
      { ...compared, state: 'not_comparable', error: text },
    ],
    ...{ started_at: '2026-11-20T12:00:00.000Z', seconds: 1 },
  };
}

/** Everything that is text for a person. */
const texts: Readonly<Record<string, (text: string) => string>> = {
  'report on a terminal': (text) =>
    onTerminal(reportWith(text), {
      fixFile: text,
      changes: [
        {
          id: text,
          database: text,
          before: { status: 'pass', observed: text },
          after: { status: 'fail', observed: text },
        },
      ],
    }),
  ...Object.fromEntries(
    reportExtensions.map((extension) => [
      `report ${extension}`,
      (text: string) => rendered(`a${extension}`, reportWith(text)),
    ]),
  ),
  'fix script': (text) => renderFixScript(reportWith(text)) ?? '',
  'undo script': (text) => renderUndoScript(reportWith(text)) ?? '',
  'comparison report': (text) => formatDatabaseComparison(comparisonWith(text), styles),
  'rehearsal report': (text) => renderRehearsal(rehearsalWith(text), styles),
  'log of db watch': (text) => {
    const first = nextLogLines(undefined, sampleWith(text));
    return [...first.lines, ...nextLogLines(first.said, { ...sampleWith(text), violations: [] }).lines].join('\n');
  },
};

describe.each(Object.entries(texts))('%s', (_format, render) => {
  // A fix script names its encoding when it is not ASCII.
  const lines = ['plain', 'plän'].map((text) => render(text).split('\n').length);
  it.each(Object.entries(hostileTexts))('%s neither controls a terminal nor adds a line', (_name, text) => {
    const shown = render(text);
    expect(shown).not.toMatch(rawUnprintable);
    expect(lines).toContain(shown.split('\n').length);
  });
});

describe.each(Object.entries(hostileTexts))('%s', (_name, text) => {
  it('is data in the reports for programs', () => {
    const one = reportWith(text);
    expect(JSON.parse(rendered('a.json', one))).toEqual(one);
    const sarif = JSON.parse(rendered('a.sarif', one));
    expect(sarif.runs[0].results[0].message.text.replaceAll('\\](', '](')).toContain(text);
    expect(rendered('a.html', one)).not.toMatch(/<(script|img|forged|b)\b/);
    expect(rendered('a.xml', one)).not.toMatch(/<(script|img|forged|b)\b|\]\]>/);
  });

  it('stays inside its line of the screen of db watch', async () => {
    const screen = renderScreen(sampleWith(text), {
      ...{ columns: 80, rows: 24, title: text, lags: [0] },
      ...{ paint: await createStyles(false), ruler: await createMeasurer() },
    });
    expect(screen.length).toBeLessThanOrEqual(24);
    for (const line of screen) expect(line).not.toMatch(/\n/);
    expect(screen.join('\n')).not.toMatch(rawUnprintable);
  });

  it.each([undefined, 80])('is one row of a list, on a terminal of %s columns too', async (columns) => {
    const table = await listed('table', text, columns);
    expect(table).not.toMatch(rawUnprintable);
    expect(table.split('\n')).toHaveLength(3);
    expect(JSON.parse(await listed('json', text, columns))).toEqual([{ name: text, id: -1 }]);
    const ndjson = await listed('ndjson', text, columns);
    expect(ndjson.split('\n')).toHaveLength(2);
    expect(JSON.parse(ndjson)).toEqual({ name: text, id: -1 });
    const yaml = await listed('yaml', text, columns);
    expect(parseYaml(yaml)).toEqual([{ name: text, id: -1 }]);
    for (const escaped of [await listed('json', text), ndjson, yaml]) expect(escaped).not.toMatch(rawUnprintable);
  });

  it('is unchanged in the CSV of a list, printable on a terminal, and no formula in a report', async () => {
    expect(readCsv(await listed('csv', text))).toEqual([
      ['Name', 'ID'],
      [Buffer.from(text).toString('utf8'), '-1'],
    ]);
    expect((await listed('csv', text, 80)).replaceAll('\r\n', '\n')).not.toMatch(rawUnprintable);
    const csv = await listed('csv', text, undefined, { ...view, isReport: true });
    expect(csv.replaceAll('\r\n', '\n')).not.toMatch(rawUnprintable);
    const [, [cell = '', id] = []] = readCsv(csv);
    expect(cell).not.toMatch(/^[=@]|^[+-](?!\d+$)/);
    expect(id).toBe('-1');
  });

  it('is one part of an error, a warning, a notice and a progress line', async () => {
    const error = new CliError('api_error', text, { detail: text, hint: text, requestId: text });
    const parts = fakeSink();
    await printError(error, { stderr: parts, json: false, color: false });
    expect(parts.text()).not.toMatch(rawUnprintable);
    expect(
      parts
        .text()
        .match(/^\S.*/gm)
        ?.map((line) => line.split(' ')[0]),
    ).toEqual(['error:', 'detail:', 'hint:']);
    const json = fakeSink();
    await printError(error, { stderr: json, json: true, color: false });
    expect(json.text()).not.toMatch(rawUnprintable);
    expect(json.text().split('\n')).toHaveLength(2);
    const stderr = fakeSink();
    const output = createOutput({
      stdout: fakeSink(),
      stderr,
      format: 'table',
      header: true,
      quiet: false,
      ...uncolored,
    });
    await output.warn(text);
    await output.note(`Logged in as ${text}.`);
    await output.show([`Source ${text}.`, `Target ${text}.`]);
    expect(stderr.text()).not.toMatch(rawUnprintable);
    expect(stderr.text().match(/^\S+/gm)).toEqual(['warning:', 'Logged', 'Source', 'Target']);
    const progress = fakeSink();
    await createProgress({ stderr: progress, clock: fakeClock(), quiet: false }).show(text);
    expect(progress.text()).not.toMatch(rawUnprintable);
    expect(progress.text().split('\n')).toHaveLength(2);
  });
});

describe('an API that sends hostile names and messages', () => {
  const names = Object.values(hostileTexts).map((text) => Buffer.from(text).toString('utf8'));
  const droplets = names.map((name, at) => ({
    id: at + 1,
    name,
    status: 'active',
    created_at: '2026-01-01T00:00:00Z',
  }));
  const page = JSON.stringify({ droplets, links: {}, meta: { total: droplets.length } });
  const hostFor = async (status: number, body: string, terminal?: number) => {
    const server = await serverFor((_request, response) => reply(response, status, body));
    return testHost({
      env: { CLOUDCTL_ACCESS_TOKEN: 't'.repeat(40), CLOUDCTL_BASE_URL: server.origin },
      ...(terminal === undefined ? {} : { terminal }),
    });
  };
  const run = async (host: TestHost, argv: readonly string[], terminal?: number) =>
    runCloudctl(host, argv, terminal === undefined ? {} : { terminal });

  it.each(['json', 'ndjson', 'yaml', 'csv', 'table'])('lists droplets as %s', async (format) => {
    const ran = await run(await hostFor(200, page), [
      'droplets',
      'list',
      '-o',
      format,
      '--no-header',
      '--format',
      'Name',
    ]);
    expect(ran.code).toBe(0);
    if (format === 'csv') return expect(readCsv(ran.out).map(([name]) => name)).toEqual(names);
    expect(ran.out).not.toMatch(rawUnprintable);
    if (format === 'json') expect(ran.json()).toEqual(names.map((Name) => ({ Name })));
    if (format === 'yaml') expect(parseYaml(ran.out)).toEqual(names.map((Name) => ({ Name })));
    if (format === 'ndjson' || format === 'table') expect(ran.out.trimEnd().split('\n')).toHaveLength(names.length);
  });

  it.each(['ndjson', 'json'])('passes droplets on as %s', async (format) => {
    const ran = await run(await hostFor(200, page), ['droplets', 'list', '-o', format]);
    expect(ran.out).not.toMatch(rawUnprintable);
    const rows: unknown =
      format === 'json'
        ? ran.json()
        : ran.out
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
    expect(rows).toEqual(droplets);
  });

  it('is printed by `api` as JSON with the same values, on a terminal too', async () => {
    for (const terminal of [undefined, 80]) {
      const ran = await run(await hostFor(200, page, terminal), ['api', 'GET', '/v2/droplets'], terminal);
      expect(ran.out).not.toMatch(rawUnprintable);
      expect(ran.json()).toMatchObject({ droplets });
    }
  });

  it.each(Object.entries(hostileTexts))('%s in an error message is one part of the error', async (_name, text) => {
    const body = JSON.stringify({ id: 'server_error', message: text });
    const ran = await run(await hostFor(422, body), ['api', 'GET', '/v2/droplets']);
    expect(ran.err).not.toMatch(rawUnprintable);
    expect(ran.err.match(/^\S+/gm)).toEqual(expect.arrayContaining(['error:']));
    expect(ran.err.match(/^(?!error:|detail:|hint:| {2}).+/gm)).toBeNull();
    expect(ran.err.match(/^ +(hint|error|detail|fail):/gm)).toBeNull();
  });
});

it('no page of the sandbox takes a name for markup', async () => {
  const names = Object.values(hostileTexts).filter(({ length }) => length < 1_000);
  const callback = (at: number): string => `http://127.0.0.1:${9_000 + at}/callback`;
  // The sandbox refuses other names of applications.
  const accepted = names.filter((name) => /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(name));
  const sandbox = await sandboxFor({ apps: accepted.map((name, at) => ({ name, callbackUrl: callback(at) })) });
  const cookie = await signIn(sandbox, MAYA);
  const { ready } = sandbox;
  const snapshot = JSON.parse((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body);
  const applications: readonly { readonly clientId: string; readonly callbackUrls: readonly string[] }[] =
    snapshot.seed.applications;
  const pages = await Promise.all(
    applications.map(({ clientId, callbackUrls: [redirect] }) =>
      authorize(sandbox, authorizationQuery(sandbox, { client_id: clientId, redirect_uri: redirect }), cookie),
    ),
  );
  expect(pages.length).toBeGreaterThan(accepted.length);
  for (const text of names) {
    const query = `?q=${encodeURIComponent(Buffer.from(text).toString('utf8'))}`;
    pages.push(await authorize(sandbox, authorizationQuery(sandbox, { client_id: text, state: text }), cookie));
    pages.push(await send(ready.auth_url, `/v1/oauth/authorize${query}`, { headers: { cookie } }));
  }
  for (const { clientId } of applications)
    await admin(sandbox, 'POST', '/_sandbox/tokens', { user: MAYA, client_id: clientId });
  const panel = ['', '/applications', '/tokens', '/droplets', '/migrations', '/requests', '/timeline', '/clock'];
  for (const path of panel) pages.push(await send(ready.auth_url, `/panel${path}`, { headers: { cookie } }));
  expect(pages.filter(({ body }) => body.includes('&lt;script&gt;')).length).toBeGreaterThan(1);
  for (const { body } of pages) {
    expect(body).toMatch(/^<!doctype html>/);
    expect(body).not.toMatch(/<(script|img|forged|b)\b|<\w+(\s+[\w-]+(="[^"]*")?)*\s+onmouseover=/);
  }
});

interface Row {
  readonly name: string;
  readonly id: number;
}

const view: ListView<Row> = {
  columns: [
    { name: 'Name', value: ({ name }) => name },
    { name: 'ID', value: ({ id }) => id },
  ],
};

const uncolored = { color: false, dataColor: false, now: () => 0 };

async function listed(format: OutputFormat, name: string, columns?: number, shape = view): Promise<string> {
  const stdout = fakeSink(columns);
  const output = createOutput({ stdout, stderr: fakeSink(), format, header: true, quiet: false, ...uncolored });
  await output.list([{ name, id: -1 }], shape);
  return stdout.text();
}
