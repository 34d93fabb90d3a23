import { describe, expect, it } from 'vitest';
import { findStopCause, withoutConsequences } from '../../../../src/db/watch/postgresql/cause.ts';
import type { ServerFacts, TableDefinition } from '../../../../src/db/watch/postgresql/facts.ts';
import type { RuleDatabase, RuleInput } from '../../../../src/db/watch/postgresql/rule.ts';
import { postgresRules } from '../../../../src/db/watch/postgresql/rules.ts';
import {
  makeDatabaseFacts,
  makeRuleInput,
  makeSeenDatabase,
  makeServerFacts,
  makeSlot,
  makeWindow,
} from './make-facts.ts';

const diagnose = (input: RuleInput) =>
  findStopCause(
    input,
    postgresRules.flatMap((rule) => rule(input)),
  );
const shape = (table: string, columns = '1'): TableDefinition => ({
  schema: 'public',
  table,
  columns,
  identity: 'd',
  keyColumns: ['id'],
  hasReplicaIdentity: true,
});
const role = makeServerFacts().role!;

/** Nothing is confirmed; `more` tells what a failing attempt leaves. */
const stopped = (seconds: number, more: (at: number) => object = () => ({}), facts: Partial<ServerFacts> = {}) =>
  makeWindow(seconds, (at) => ({
    walPosition: 2000 + at,
    senders: [],
    slots: [makeSlot({ active: false, pid: undefined, flushed: 1000, ...more(at) })],
    ...(at === 0 ? {} : facts),
  }));
const failing = (at: number) => ({ decoded: Math.floor(at / 5) });
const altered = (more: Partial<RuleDatabase> = {}): RuleDatabase =>
  makeSeenDatabase({
    shapes: {
      first: new Map([['public.t', shape('t')]]),
      now: new Map([
        ['public.t', shape('t', '2')],
        ['public.newt', shape('newt')],
      ]),
      columnsBefore: new Map(),
      columnsNow: new Map(),
      sightings: new Map(),
    },
    ...more,
  });

describe('one cause', () => {
  it('there is none while changes are replicated, whatever was changed', () => {
    const window = makeWindow(90, (at) => ({
      walPosition: 1000 + at,
      slots: [makeSlot({ flushed: 1000 + at })],
      role: { ...role, revision: String(at) },
    }));
    expect(diagnose(makeRuleInput(window, { databases: [altered()] }))).toBeUndefined();
  });

  it('a target that was away for less than ten seconds is no cause, also when something was changed', () => {
    expect(diagnose(makeRuleInput(stopped(9, failing), { databases: [altered()] }))).toBeUndefined();
  });

  it('a failing apply after DDL: the table whose rows are not confirmed', () => {
    const found = (pendingTables: readonly string[]) =>
      diagnose(makeRuleInput(stopped(13, failing), { databases: [altered({ pendingTables })] }));
    expect(found(['public.newt'])).toMatchObject({ rule: 'table-new', object: 'public.newt', basis: 'changed' });
    expect(found(['public.t'])).toMatchObject({ rule: 'schema-changed', object: 'public.t' });
  });

  it('a disconnected target after a change of the role or of host rules, and not after DDL', () => {
    const quiet = () => ({ decoded: 5 });
    const changed = { role: { ...role, revision: '2' } };
    expect(diagnose(makeRuleInput(stopped(13, quiet, changed), { databases: [altered()] }))).toMatchObject({
      rule: 'role-altered',
      object: 'mover',
      database: 'shop',
    });
    expect(diagnose(makeRuleInput(stopped(13, quiet, { hbaRuleLines: [] })))).toMatchObject({
      rule: 'pg-hba-changed',
      fix: { run_on: 'pg_hba.conf', statement: 'host all all 0.0.0.0/0 scram-sha-256' },
    });
    const refused = {
      connection: { addresses: undefined, certificate: undefined, refused: { code: '28000', message: 'no' } },
    };
    expect(diagnose(makeRuleInput(stopped(13, quiet, { ...changed, hbaRuleLines: [], ...refused })))).toMatchObject({
      rule: 'pg-hba-changed',
      basis: 'observed',
    });
    expect(diagnose(makeRuleInput(stopped(13, quiet), { databases: [altered()] }))).toBeUndefined();
  });

  it('without any change the causes that only the target can show are a group', () => {
    expect(diagnose(makeRuleInput(stopped(62, failing)))).toMatchObject({
      rule: 'apply-failing',
      basis: 'group',
      object: 's',
    });
    const pending = makeSeenDatabase({ pendingTables: ['public.t'] });
    expect(
      diagnose(
        makeRuleInput(
          stopped(62, () => ({ decoded: 5 })),
          { databases: [pending] },
        ),
      ),
    ).toMatchObject({
      rule: 'target-disconnected',
      object: 'public.t',
      candidates: expect.arrayContaining(['target-stopped', 'target-read-only', 'target-disk-full']),
    });
  });

  it('a worker that a timeout ends, and that is connected between, is failing', () => {
    const window = makeWindow(60, (at) => ({
      walPosition: 2000 + at,
      slots: [makeSlot({ flushed: 1000, pid: 7 + Math.floor(at / 7) })],
      senders: [],
    }));
    expect(diagnose(makeRuleInput(window))).toMatchObject({ rule: 'apply-failing' });
    // One that connected again once and then applies a large transaction is not.
    const again = window.map((facts, at) => ({
      ...facts,
      slots: [makeSlot({ flushed: 1000, pid: at < 5 ? 7 : 8, decoded: at })],
    }));
    expect(
      diagnose(makeRuleInput(again.map((facts) => ({ ...facts, senders: makeServerFacts().senders })))),
    ).toBeUndefined();
  });

  it('a publication that the slot outlives is dropped, also when no poll has seen it', () => {
    const now = makeDatabaseFacts({ publications: new Map([['theirs', 'x']]) });
    const database = makeSeenDatabase({
      now,
      publications: now.publications,
      publicationsRead: [],
      otherPublications: ['theirs'],
    });
    expect(diagnose(makeRuleInput(stopped(2), { databases: [database] }))).toMatchObject({
      rule: 'publication-dropped',
      object: 's',
      basis: 'observed',
    });
  });

  it('a migration that was started and has no slot is a group, after a while', () => {
    const input = makeRuleInput(
      makeWindow(60, () => ({ slots: [] })),
      { slots: [], databases: [], startedAt: 0, cluster: 'c1' },
    );
    expect(diagnose(input)).toMatchObject({
      rule: 'slot-missing',
      basis: 'group',
      fix: { statement: 'cloudctl db status c1' },
    });
    expect(diagnose({ ...input, startedAt: 30_000 })).toBeUndefined();
  });
});

it('the cause comes first, without its consequences and without itself', () => {
  const input = makeRuleInput(stopped(62, failing), { databases: [altered({ pendingTables: ['public.newt'] })] });
  const violations = postgresRules.flatMap((rule) => rule(input));
  const cause = findStopCause(input, violations);
  expect(violations.map(({ rule }) => rule)).toEqual(['apply-failing', 'table-new', 'schema-changed']);
  expect(withoutConsequences(cause, violations).map(({ rule }) => rule)).toEqual(['table-new', 'schema-changed']);
  expect(withoutConsequences(undefined, violations)).toEqual(violations);
});
