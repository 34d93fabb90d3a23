import { describe, expect, it } from 'vitest';
import { chooseSlots, isSyncSender, isSyncSlot, publicationsIn, senderOf } from '../../../src/watch/postgresql/ours.ts';
import { sender, slot } from './ground.ts';

const nothing = { named: [], known: [], before: undefined };
const names = (...found: Parameters<typeof chooseSlots>) => chooseSlots(...found).slots.map(({ name }) => name);

describe("the migration's slots", () => {
  const theirs = slot({ name: 'theirs' });
  it.each([
    ['the one that was named, whatever it is called', [slot(), theirs], { named: ['theirs'] }, ['theirs']],
    ['the one an earlier run saw', [slot(), theirs], { known: ['theirs'] }, ['theirs']],
    ['the one an engine names', [slot(), slot({ name: 'cloudctl_shop' })], {}, ['cloudctl_shop']],
    ['the one that came after the start', [slot(), theirs], { before: ['theirs'] }, ['s']],
    ['none, when all were there before', [slot(), theirs], { before: ['theirs', 's'] }, []],
    ['the only one that speaks pgoutput', [slot(), slot({ name: 'cdc', plugin: 'wal2json' })], {}, ['s']],
    ['one in each database', [slot(), slot({ name: 'x', database: 'crm' })], {}, ['s', 'x']],
    ['no physical one', [slot({ database: undefined, plugin: undefined })], {}, []],
    ['no temporary one', [slot({ temporary: true })], {}, []],
    ['none of an initial copy', [slot({ name: 'pg_16397_sync_16385_7710259631094951408' })], {}, []],
  ])('are %s', (_what, slots, clues, expected) => {
    expect(names(slots, { ...nothing, ...clues })).toEqual(expected);
  });

  it('are in doubt where several of one database could be it', () => {
    expect(chooseSlots([slot(), theirs], nothing).doubtful).toEqual(['s', 'theirs']);
    expect(chooseSlots([slot()], nothing).doubtful).toEqual([]);
  });
});

it('slots and workers of initial copies are told by their names, up to 13 by being temporary too', () => {
  expect(isSyncSlot({ name: 'pg_1_sync_2_3', temporary: false })).toBe(true);
  expect(isSyncSlot({ name: 'sub_1_sync_2', temporary: true })).toBe(true);
  expect(isSyncSlot({ name: 'sub_1_sync_2', temporary: false })).toBe(false);
  expect(isSyncSender({ application: 'pg_1_sync_2_3', state: 'streaming' })).toBe(true);
  expect(isSyncSender({ application: 'sub_1_sync_2', state: 'startup' })).toBe(true);
  expect(isSyncSender({ application: 'sub', state: 'startup' })).toBe(false);
});

it('the consumer of a slot is the process that holds it, or the one whose command names it', () => {
  const other = sender({ pid: 8, command: 'START_REPLICATION SLOT "a""b" LOGICAL 0/0' });
  expect(senderOf(slot(), [other, sender()])?.pid).toBe(7);
  expect(senderOf(slot({ name: 'a"b', pid: undefined }), [sender(), other])?.pid).toBe(8);
  expect(senderOf(slot({ pid: undefined, name: 'x' }), [sender(), other])).toBeUndefined();
});

it('the publications that are read stand in the command, quoted twice', () => {
  expect(publicationsIn(sender().command)).toEqual(['p']);
  expect(publicationsIn(`… publication_names '"p","it''s","a""b"')`)).toEqual(['p', "it's", 'a"b']);
  expect(publicationsIn('COPY public.t TO STDOUT')).toEqual([]);
});
