import { describe, expect, it } from 'vitest';
import {
  chooseMigrationSlots,
  findWalSenderOfSlot,
  isTableSyncSender,
  isTableSyncSlot,
  parsePublicationsOfReplicationCommand,
} from '../../../../src/db/watch/postgresql/choose-slots.ts';
import { makeSlot, makeWalSender } from './make-facts.ts';

const nothing = { named: [], known: [], otherSlots: undefined };
const names = (...found: Parameters<typeof chooseMigrationSlots>) =>
  chooseMigrationSlots(...found).slots.map(({ name }) => name);

describe("the migration's slots", () => {
  const theirs = makeSlot({ name: 'theirs' });
  it.each([
    ['the one that was named, whatever it is called', [makeSlot(), theirs], { named: ['theirs'] }, ['theirs']],
    ['the one an earlier run saw', [makeSlot(), theirs], { known: ['theirs'] }, ['theirs']],
    ['the one an engine names', [makeSlot(), makeSlot({ name: 'cloudctl_shop' })], {}, ['cloudctl_shop']],
    ['the one that came after the start', [makeSlot(), theirs], { otherSlots: ['theirs'] }, ['s']],
    ['none, when all were there before', [makeSlot(), theirs], { otherSlots: ['theirs', 's'] }, []],
    ['the only one that speaks pgoutput', [makeSlot(), makeSlot({ name: 'cdc', plugin: 'wal2json' })], {}, ['s']],
    ['one in each database', [makeSlot(), makeSlot({ name: 'x', database: 'crm' })], {}, ['s', 'x']],
    ['no physical one', [makeSlot({ database: undefined, plugin: undefined })], {}, []],
    ['no temporary one', [makeSlot({ temporary: true })], {}, []],
    ['none of an initial copy', [makeSlot({ name: 'pg_16397_sync_16385_7710259631094951408' })], {}, []],
  ])('are %s', (_what, slots, clues, expected) => {
    expect(names(slots, { ...nothing, ...clues })).toEqual(expected);
  });

  it('are in doubt where several of one database could be it', () => {
    expect(chooseMigrationSlots([makeSlot(), theirs], nothing).ambiguous).toEqual(['s', 'theirs']);
    expect(chooseMigrationSlots([makeSlot()], nothing).ambiguous).toEqual([]);
  });
});

it('slots and workers of initial copies are told by their names, up to 13 by being temporary too', () => {
  expect(isTableSyncSlot({ name: 'pg_1_sync_2_3', temporary: false })).toBe(true);
  expect(isTableSyncSlot({ name: 'sub_1_sync_2', temporary: true })).toBe(true);
  expect(isTableSyncSlot({ name: 'sub_1_sync_2', temporary: false })).toBe(false);
  expect(isTableSyncSender({ application: 'pg_1_sync_2_3', state: 'streaming' })).toBe(true);
  expect(isTableSyncSender({ application: 'sub_1_sync_2', state: 'startup' })).toBe(true);
  expect(isTableSyncSender({ application: 'sub', state: 'startup' })).toBe(false);
});

it('the consumer of a slot is the process that holds it, or the one whose command names it', () => {
  const other = makeWalSender({ pid: 8, command: 'START_REPLICATION SLOT "a""b" LOGICAL 0/0' });
  expect(findWalSenderOfSlot(makeSlot(), [other, makeWalSender()])?.pid).toBe(7);
  expect(findWalSenderOfSlot(makeSlot({ name: 'a"b', pid: undefined }), [makeWalSender(), other])?.pid).toBe(8);
  expect(findWalSenderOfSlot(makeSlot({ pid: undefined, name: 'x' }), [makeWalSender(), other])).toBeUndefined();
});

it('the publications that are read stand in the command, quoted twice', () => {
  expect(parsePublicationsOfReplicationCommand(makeWalSender().command)).toEqual(['p']);
  expect(parsePublicationsOfReplicationCommand(`… publication_names '"p","it''s","a""b"')`)).toEqual([
    'p',
    "it's",
    'a"b',
  ]);
  expect(parsePublicationsOfReplicationCommand('COPY public.t TO STDOUT')).toEqual([]);
});
