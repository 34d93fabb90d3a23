import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { type JournalEntry, openEngineJournal } from '../../../src/db/engine/journal.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'engine');
}

const endpoint = { host: '::1', port: 5432, dbname: 'd "é"', username: 'u', ssl: 'require' } as const;
const verify = { what: 'full', ca: { file: 'ca.pem', pem: 'PEM' } } as const;
const entry: JournalEntry = {
  engine: 'postgresql',
  name: 'cloudctl_1_2',
  source: { ...endpoint, password: new Secret('pa"ss\nword'), verify },
  target: { ...endpoint, password: undefined },
  targetSystem: '7',
};
const owned: JournalEntry = {
  ...entry,
  name: 'cloudctl_1_3',
  subscriptionOid: '16490',
  former: {
    owner: 'Own er',
    publicOwner: 'postgres',
    settings: ['search_path="a, b", c'],
    privileges: [{ kind: 'database', grantee: 'R o', privilege: 'CONNECT', grantable: true }],
  },
};
const redis: JournalEntry = {
  engine: 'redis',
  name: 'redis 1',
  source: { host: 'a', port: 1, ssl: 'disable', username: undefined, password: undefined, db: undefined },
  target: { host: 'b', port: 2, ssl: 'disable', username: 'u', password: new Secret('x'), db: undefined },
  settings: { masterauth: 'old' },
};

test('entries that were not removed are read by the next process, with their passwords', () => {
  const path = place();
  const first = openEngineJournal(path);
  first.recordIntent(entry);
  first.recordIntent(redis);
  first.recordIntent(owned);
  first.recordIntent({ ...entry, name: 'gone' });
  first.recordRemoved('gone');
  first.close();
  const second = openEngineJournal(path);
  expect(second.pending()).toEqual([entry, redis, owned]);
  expect(second.pending()[0]?.source.password?.reveal()).toBe('pa"ss\nword');
  second.recordRemoved(entry.name);
  second.close();
  expect(openEngineJournal(path).pending()).toEqual([redis, owned]);
});

test('only this user can read it, and it shrinks to what is pending when it is opened', () => {
  const path = place();
  const journal = openEngineJournal(path);
  for (let at = 0; at < 50; at++) {
    journal.recordIntent({ ...entry, name: `n${at}` });
    journal.recordRemoved(`n${at}`);
  }
  journal.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  openEngineJournal(path).close();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a last line that a crash cut short is forgotten, because nothing was made after it', () => {
  const path = place();
  const journal = openEngineJournal(path);
  journal.recordIntent(entry);
  journal.close();
  appendFileSync(path, '{"intend":{"engine":"postgresql","name":"half');
  const next = openEngineJournal(path);
  expect(next.pending()).toEqual([entry]);
  next.recordIntent(redis);
  next.close();
  expect(openEngineJournal(path).pending()).toEqual([entry, redis]);
});

test('a line of a later release is kept for it', () => {
  const path = place();
  openEngineJournal(path).close();
  appendFileSync(path, '{"intend":{"engine":"other","name":"x"}}\n');
  const journal = openEngineJournal(path);
  expect(journal.pending()).toEqual([]);
  journal.close();
  expect(readFileSync(path, 'utf8')).toContain('"other"');
});
