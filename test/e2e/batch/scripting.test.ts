import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultSpec } from '../../../src/sandbox/faults/fault.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type BatchSetup, ndjsonRows, type Row, setUpBatch } from './batch-setup.ts';
import { examples, programFolder } from './scripts-page.ts';

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  /** A file the script has written. */
  file(name: string): string;
}

/** A second run has printed the same rows and created nothing. */
function expectTwelve(fixture: BatchSetup, { file }: Printed): void {
  const rows = ndjsonRows(file('rows.ndjson'));
  expect(rows.map(({ status }) => status)).toEqual(Array(12).fill('created'));
  expect(fixture.counts(rows.map(({ name }) => name))).toEqual(Array(12).fill(1));
}

/** What is true after the example of each section. */
const outcomes: Readonly<Record<string, (fixture: BatchSetup, printed: Printed) => void>> = {
  'Names from a file and from a program': (fixture) => {
    expect(fixture.counts(['app-01', 'app-02', 'store-01'])).toEqual([1, 1, 1]);
    expect(fixture.counts(['node-001', 'node-040', 'node-041'])).toEqual([1, 1, 0]);
  },
  'Repeat until every droplet exists': (fixture, { file }) => {
    const rows: readonly Row[] = JSON.parse(file('rows.json'));
    expect(rows.map(({ status }) => status)).toEqual(Array(40).fill('created'));
    expect(fixture.counts(rows.map(({ name }) => name))).toEqual(Array(40).fill(1));
    expect(fixture.sandbox.faults.list().map(({ remaining }) => remaining)).toEqual([0]);
    expect(file('runs.txt').trim().split('\n')).toHaveLength(1);
  },
  'Ids of active droplets': (_, { stdout }) => {
    expect(stdout.trim().split('\n')).toEqual(['"active"', '"active"', '"active"']);
  },
  'Resume after an interruption': (fixture, { file }) => {
    const rows = ndjsonRows(file('rows.ndjson'));
    expect(rows.map(({ status }) => status)).toEqual(Array(40).fill('created'));
    expect(fixture.counts(rows.map(({ name }) => name))).toEqual(Array(40).fill(1));
    expect(fixture.sandbox.faults.list().map(({ remaining }) => remaining)).toEqual([0]);
  },
  'Choose the ledger file': (fixture, printed) => {
    expectTwelve(fixture, printed);
    expect(JSON.parse(printed.file('again.json'))).toHaveLength(12);
  },
  'Continue on any machine': expectTwelve,
  'The same command every night': (fixture) => {
    expect(fixture.counts(['app-01', 'app-03', 'app-05'])).toEqual([1, 1, 1]);
  },
  'Rows and jq': (fixture, { stdout, file }) => {
    const lines = stdout.trim().split('\n').sort();
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe(`app-01 ${fixture.ids('app-01')[0]}`);
    expect(file('rows.ndjson').trim().split('\n')).toHaveLength(12);
  },
  'Tags, keys and user data': (fixture) => {
    expect(fixture.counts(['app-01', 'app-02', 'app-03'])).toEqual([1, 1, 1]);
  },
  'Look before creating': (fixture, { file }) => {
    const rows = JSON.parse(file('plan.json'));
    expect(rows).toMatchObject([{ status: 'exists' }, { status: 'create' }, { status: 'create' }]);
    expect(JSON.parse(file('curl.json'))).toHaveLength(3);
    expect(file('curl.json')).toContain('$(cloudctl auth token)');
    expect(fixture.counts(['app-01', 'app-02', 'app-03'])).toEqual([1, 0, 0]);
  },
  'Delete droplets': (fixture) => {
    expect(fixture.counts(['ci-1', 'ci-2', 'ci-3'])).toEqual([0, 0, 0]);
  },
  'Delete a batch': (fixture, { stdout }) => {
    expect(stdout).toContain('finished');
    expect(fixture.counts(['job-01', 'job-02', 'job-03'])).toEqual([0, 0, 0]);
  },
};

/** A failure of the server that the example of a section overcomes. */
const faults: Readonly<Record<string, Omit<FaultSpec, 'match'>>> = {
  'Repeat until every droplet exists': { action: 'drop_before_commit', times: 8 },
  'Resume after an interruption': { action: 'status', status: 403, nth: 2 },
};

describe.skipIf(lacks('jq', 'dash', 'bash'))('docs/scripting.md', () => {
  it('has an example in each section the test knows, and no other', () => {
    expect(examples.map(({ title }) => title)).toEqual(Object.keys(outcomes));
  });

  it.each(examples.flatMap((example) => ['bash', 'dash'].map((shell) => ({ ...example, shell }))))(
    '$title, in $shell',
    async ({ title, script, shell }) => {
      const fixture = await setUpBatch();
      const fault = faults[title];
      if (fault !== undefined)
        fixture.sandbox.faults.add({ match: { method: 'POST', path: '/v2/droplets' }, ...fault });
      const ran = await fixture.shell(shell, script, { PATH: `${programFolder(fixture)}:${process.env.PATH}` });
      expect(ran).toMatchObject({ code: 0 });
      const file = (name: string): string => readFileSync(join(fixture.work, name), 'utf8');
      outcomes[title]?.(fixture, { ...ran, file });
    },
  );
});
