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
  expect([...(await find())].sort()).toEqual(['shop: "public"."Se.q"', "shop: public.other's"]);
  await target.query("SELECT nextval('\"Se.q\"'), setval('\"other''s\"', 9000)", 'shop');
  expect(await find()).toEqual([]);
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
  expect(await find('reader')).toHaveLength(1);
  expect(await find('postgres')).toEqual([]);
});
