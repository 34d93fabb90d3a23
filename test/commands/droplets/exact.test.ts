import { describe, expect, it, test } from 'vitest';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

/** Neighbours: as doubles the first two are one number. */
const ids = ['9007199254740993', '9007199254740992', '12345678901234567890123'];
const items = ids.map(
  (id) =>
    `{"id":${id},"name":"d-${id}","created_at":"2026-01-01T00:00:00Z","memory":1.0,"size":{"price_hourly":0.010}}`,
);
const page = `{"droplets":[${items.join(',')}],"links":{},"meta":{"total":3}}`;

describe.each([
  ['on one line', page],
  ['on several lines', page.replaceAll(',', ',\n')],
])('ids beyond 2^53 of an answer %s', (_how, answer) => {
  async function said(...words: string[]): Promise<string> {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, answer, { 'content-type': 'application/json' }),
    );
    const env = { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'at-1' };
    const ran = await runCloudctl(testHost(), words, { env });
    expect(ran).toMatchObject({ code: 0, err: '' });
    return ran.out;
  }
  const found = (text: string, pattern: RegExp): readonly string[] =>
    [...text.matchAll(pattern)].map(([, id = '']) => id);

  it.each([
    ['json', /^ {4}"id": (\d+),$/gm],
    ['ndjson', /"id":(\d+),/g],
    ['yaml', /^(?:- | {2})id: (\d+)$/gm],
    ['csv', /^(\d+),/gm],
    ['table', /^(\d+) /gm],
  ])('leave a list as %s as they came', async (format, pattern) => {
    expect(found(await said('droplets', 'list', '-o', format), pattern)).toEqual(ids);
  });

  it.each([
    ['json', /^ {4}"ID": (\d+)$/gm],
    ['ndjson', /"ID":(\d+)/g],
    ['yaml', /ID: (\d+)$/gm],
    ['csv', /^(\d+)$/gm],
    ['table', /^(\d+)$/gm],
  ])('leave a column of a list as %s as they came', async (format, pattern) => {
    expect(found(await said('droplets', 'list', '-o', format, '--format', 'ID'), pattern)).toEqual(ids);
  });

  it.each([['json'], ['ndjson'], ['yaml'], ['csv'], ['table']])('leave a query as %s as they came', async (format) => {
    const out = await said('droplets', 'list', '-o', format, '--query', '[].id');
    expect(found(out, /(\d{16,})/g)).toEqual(ids);
    expect(out).not.toContain('"');
    expect(
      found(await said('api', 'GET', '/v2/droplets', '-o', format, '--query', 'droplets[].id'), /(\d{16,})/g),
    ).toEqual(ids);
  });

  it.each([['json'], ['yaml'], ['table']])('and all other numbers leave `api` as %s as they came', async (format) => {
    const out = await said('api', 'GET', '/v2/droplets', '-o', format);
    expect(found(out, /\bid"?: (\d+)/g)).toEqual(ids);
    expect(found(out, /memory"?: (\S+?),?$/gm)).toEqual(['1.0', '1.0', '1.0']);
    expect(found(out, /price_hourly"?: (\S+?),?$/gm)).toEqual(['0.010', '0.010', '0.010']);
  });

  it('leave `api --paginate` as they came', async () => {
    expect(found(await said('api', 'GET', '/v2/droplets', '--paginate'), /"id": (\d+)/g)).toEqual(ids);
  });
});

test('actions of ids that are one double are two actions', async () => {
  const action = (id: string) =>
    `{"id":${id},"status":"completed","type":"create","started_at":"2026-01-01T00:00:00Z","resource_id":${id}}`;
  const body = `{"actions":[${ids.map(action).join(',')}],"links":{},"meta":{"total":3}}`;
  const { origin } = await serverFor((_, response) =>
    reply(response, 200, body, { 'content-type': 'application/json' }),
  );
  const env = { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'at-1' };
  const { out } = await runCloudctl(
    testHost(),
    ['actions', 'list', '--format', 'ID,ResourceID', '-o', 'csv', '--no-header'],
    { env },
  );
  expect(out).toBe(ids.map((id) => `${id},${id}\n`).join(''));
});
