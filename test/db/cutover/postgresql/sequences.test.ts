import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSequenceDifferences } from '../../../../src/db/cutover/postgresql/sequences.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { postgresEndpointOf, startSource, startTarget } from '../../engine/servers.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget()]);
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

test('sequences differ until the target has the values of the source', async () => {
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await server.query('CREATE SEQUENCE "Se.q"; CREATE SEQUENCE "other\'s"', 'shop');
  }
  await source.query("SELECT nextval('\"Se.q\"'), setval('\"other''s\"', 9000)", 'shop');
  const find = () =>
    findSequenceDifferences(postgresEndpointOf(source), postgresEndpointOf(target), {
      ignoreDbs: ['postgres'],
      signal: new AbortController().signal,
    });
  expect([...(await find()).differences].sort()).toEqual(['shop: "public"."Se.q"', "shop: public.other's"]);
  await target.query("SELECT nextval('\"Se.q\"'), setval('\"other''s\"', 9000)", 'shop');
  expect(await find()).toEqual({ differences: [], ahead: [] });
  await target.query("SELECT setval('\"other''s\"', 9001)", 'shop');
  const ahead = ["shop: public.other's (the target is ahead: 9001, source 9000)"];
  expect(await find()).toEqual({ differences: ahead, ahead });
  await source.query('CREATE SEQUENCE "the target is ahead"', 'shop');
  await target.query('CREATE SEQUENCE "the target is ahead"', 'shop');
  await source.query(`SELECT nextval('"the target is ahead"')`, 'shop');
  expect((await find()).ahead).toEqual(ahead);
});

test('a sequence that the role may not read is named, and a template database is left out', async () => {
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE secret');
    await server.query('CREATE SEQUENCE s', 'secret');
  }
  await source.query("CREATE ROLE reader LOGIN PASSWORD 'secret'");
  await source.query('CREATE DATABASE model IS_TEMPLATE true');
  await source.query('CREATE SEQUENCE s', 'model');
  const find = (username: string) =>
    findSequenceDifferences(postgresEndpointOf(source, { username }), postgresEndpointOf(target), {
      ignoreDbs: ['postgres', 'shop'],
      signal: new AbortController().signal,
    });
  expect((await find('reader')).differences).toHaveLength(1);
  expect((await find('postgres')).differences).toEqual([]);
});
