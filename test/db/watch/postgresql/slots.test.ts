import { expect, it } from 'vitest';
import {
  findSyncingSystem,
  isTableSyncSender,
  isTableSyncSlot,
  listConsumerSlots,
  publicationsOf,
  senderOfSlot,
} from '../../../../src/db/watch/postgresql/slots.ts';
import { makeSlot, makeWalSender } from './make-facts.ts';

it('slots that can belong to a migration are the logical ones of pgoutput, and those that are asked for', () => {
  const slots = [
    makeSlot(),
    makeSlot({ name: 'cdc', plugin: 'wal2json' }),
    makeSlot({ name: 'crm', database: 'crm' }),
    makeSlot({ name: 'physical', database: undefined, plugin: undefined }),
    makeSlot({ name: 'temporary', temporary: true }),
    makeSlot({ name: 'pg_16397_sync_16385_7710259631094951408' }),
  ];
  expect(listConsumerSlots(slots, 'shop', [])).toEqual(['s']);
  expect(listConsumerSlots(slots, 'shop', ['cdc'])).toEqual(['s', 'cdc']);
});

it('the system of a target is read from its table synchronization, unless there are two', () => {
  const sync = (system: string) => makeSlot({ name: `pg_16397_sync_16385_${system}` });
  expect(findSyncingSystem('shop', { slots: [makeSlot(), sync('771')], senders: [] })).toBe('771');
  expect(findSyncingSystem('shop', { slots: [sync('771'), sync('772')], senders: [] })).toBeUndefined();
  expect(findSyncingSystem('shop', { slots: [], senders: [makeWalSender({ application: 'pg_1_sync_2_773' })] })).toBe(
    '773',
  );
  expect(findSyncingSystem('crm', { slots: [sync('771')], senders: [] })).toBeUndefined();
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
  expect(senderOfSlot(makeSlot(), [other, makeWalSender()])?.pid).toBe(7);
  expect(senderOfSlot(makeSlot({ name: 'a"b', pid: undefined }), [makeWalSender(), other])?.pid).toBe(8);
  expect(senderOfSlot(makeSlot({ pid: undefined, name: 'x' }), [makeWalSender(), other])).toBeUndefined();
});

it('the publications that are read stand in the command, quoted twice', () => {
  expect(publicationsOf(makeWalSender().command)).toEqual(['p']);
  expect(publicationsOf(`… publication_names '"p","it''s","a""b"')`)).toEqual(['p', "it's", 'a"b']);
  expect(publicationsOf('COPY public.t TO STDOUT')).toEqual([]);
});
