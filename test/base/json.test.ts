import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeTokenResponse } from '../../src/auth/oauth/token.ts';
import {
  isJsonRecord,
  maxJsonDepth,
  readNumberField,
  readStringField,
  tryParseExactJson,
  tryParseJson,
} from '../../src/base/json.ts';
import { decodeBaseline } from '../../src/db/preflight/baseline.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { sandboxFor, send, tokenFor } from '../sandbox/requests.ts';

it('a text that is no JSON fails without a message that quotes it', () => {
  const notJson = { ok: false, reason: expect.not.stringContaining('hunter2'), isTooDeep: false };
  expect(tryParseJson('{"access_token": hunter2}')).toEqual(notJson);
  expect(tryParseJson('')).toEqual(notJson);
  expect(tryParseJson('null')).toEqual({ ok: true, value: null });
  expect(tryParseJson('\uFEFF{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(tryParseJson('\uFEFF\uFEFF{}')).toEqual(notJson);
});

describe.each([tryParseJson, tryParseExactJson])('the depth of JSON that is parsed by %o', (parse) => {
  it.each([1, 200, maxJsonDepth])('%i levels are parsed', (levels) => {
    expect(parse(`${'['.repeat(levels)}1.0${']'.repeat(levels)}`).ok).toBe(true);
    expect(parse(`${'{"a":'.repeat(levels)}"[{"${'}'.repeat(levels)}`).ok).toBe(true);
  });

  it.each([maxJsonDepth + 1, 6_000, 20_000, 2_000_000])('%i levels are refused', (levels) => {
    expect(parse('['.repeat(levels) + ']'.repeat(levels))).toMatchObject({ ok: false, isTooDeep: true });
    expect(parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)).toMatchObject({ ok: false, isTooDeep: true });
  });

  it('brackets in strings and beside each other do not count', () => {
    const text = JSON.stringify({ a: '[{"\\'.repeat(5_000), b: Array.from({ length: 5_000 }, () => [{}]) });
    expect(parse(text)).toMatchObject({ ok: true, value: JSON.parse(text) });
  });
});

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [null, false],
  [[], false],
  ['x', false],
  [undefined, false],
])('isRecord(%j) is %j', (value, expected) => {
  expect(isJsonRecord(value)).toBe(expected);
});

it('a member of the wrong type counts as absent', () => {
  const record = { text: 'x', number: 0, odd: Number.POSITIVE_INFINITY, digits: '1' };
  expect([readStringField(record, 'text'), readStringField(record, 'number'), readStringField(record, 'none')]).toEqual(
    ['x', undefined, undefined],
  );
  expect([
    readNumberField(record, 'number'),
    readNumberField(record, 'odd'),
    readNumberField(record, 'digits'),
  ]).toEqual([0, undefined, undefined]);
});

describe('deep JSON', () => {
  const formats = ['table', 'json', 'ndjson', 'yaml', 'csv'] as const;

  /** JSON whose lists or objects are nested `levels` deep. */
  function nested(levels: number, shape: 'lists' | 'objects', inner = '1.0'): string {
    const [open, close] = shape === 'lists' ? ['[', ']'] : ['{"a":', '}'];
    return open.repeat(levels) + inner + close.repeat(levels);
  }

  async function hostWith(body: string, status = 200) {
    const server = await serverFor((_request, response) => reply(response, status, body));
    return testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 't'.repeat(40), CLOUDCTL_BASE_URL: server.origin } });
  }

  describe.each([maxJsonDepth + 1, 6_000, 20_000])('JSON of %i levels', (levels) => {
    const texts = [nested(levels, 'lists'), nested(levels, 'objects')];
    const item = `{"id":1,"name":"web","status":"active","created_at":"2026-01-01T00:00:00Z","more":${texts[1]}}`;

    it.each([
      ['api', 'GET', '/v2/x'],
      ['api', 'GET', '/v2/droplets', '--paginate'],
      ['api', 'GET', '/v2/x', '--query', 'a'],
      ['droplets', 'list'],
      ['actions', 'list'],
      ['droplets', 'create', 'web-01', '--size', 's', '--image', 'i'],
    ])('in a response ends `%s %s %s` with an error of the API', async (...argv) => {
      for (const body of [...texts, `{"droplets":[${item}],"actions":[${item}],"links":{},"meta":{"total":1}}`]) {
        const ran = await runCloudctl(await hostWith(body), [
          ...argv.filter((word) => word !== '--no-preflight'),
          '-o',
          'json',
        ]);
        expect(ran.err).not.toContain('"internal"');
        expect([1, 5]).toContain(ran.code);
        if (argv[1] !== 'create') expect(ran.error()).toMatchObject({ code: 'api_error', exit_code: 1 });
        if (argv[1] !== 'create') expect(ran.error().message).toContain(String(maxJsonDepth));
      }
    });

    it.each([400, 404, 500])('in an error response with status %i changes nothing', async (status) => {
      const ran = await runCloudctl(await hostWith(texts[1]!, status), ['api', 'GET', '/v2/x', '-o', 'json']);
      expect(ran.err).not.toContain('"internal"');
      expect(ran.code).toBe(1);
    });

    it('in an argument or a file of the user is a usage error, before any request', async () => {
      for (const text of texts) {
        const host = await hostWith('{}');
        const api = await runCloudctl(host, ['api', 'POST', '/v2/x', '--data', '-', '-o', 'json'], { stdin: text });
        expect(api.error()).toMatchObject({ code: 'usage', exit_code: 2 });
        expect(api.error().message).toContain(String(maxJsonDepth));
        const create = ['droplets', 'create', 'web', '--size', 's', '--image', 'i', '--set', `x=${text}`, '-o', 'json'];
        expect((await runCloudctl(host, create)).error()).toMatchObject({ code: 'usage', exit_code: 2 });
        expect(decodeBaseline(text)).toBeUndefined();
      }
    });

    it('in config.json is a damaged file', async () => {
      const host = await hostWith('{}');
      mkdirSync(host.place.config, { recursive: true });
      host.writeConfig(`{"profiles":${texts[1]}}`);
      const ran = await runCloudctl(host, ['config', 'list', '-o', 'json']);
      expect(ran.error()).toMatchObject({ code: 'config_invalid', exit_code: 2 });
      expect(ran.error().message).toContain(String(maxJsonDepth));
    });

    it('in a response of the token endpoint is malformed', () => {
      const body = `{"access_token":"x","info":${texts[1]}}`;
      const result = decodeTokenResponse({ status: 200, contentType: 'application/json', body });
      expect(result.kind === 'malformed' ? result.reason : '').toContain(String(maxJsonDepth));
    });

    it('is refused by the sandbox with a status of the client', async () => {
      const sandbox = await sandboxFor();
      const { access_token: token } = await tokenFor(sandbox);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      for (const text of [...texts, `{"name":${texts[0]}}`]) {
        const created = await send(sandbox.ready.base_url, '/v2/droplets', { method: 'POST', headers, body: text });
        expect(created.status).toBe(400);
        const json = { 'content-type': 'application/json' };
        const exchanged = await send(sandbox.ready.auth_url, '/v1/oauth/token', {
          method: 'POST',
          headers: json,
          body: text,
        });
        expect(exchanged.status).toBe(400);
        for (const path of ['faults', 'restore', 'clock']) {
          const { status } = await send(sandbox.ready.admin_url, `/_sandbox/${path}`, {
            ...{ method: 'POST', headers: { ...json, 'x-admin-token': sandbox.ready.admin_token }, body: text },
          });
          expect([400, 422]).toContain(status);
        }
      }
    });
  });

  it('a response that is too deep is told in one sentence', async () => {
    const ran = await runCloudctl(await hostWith(nested(maxJsonDepth + 1, 'lists')), ['api', 'GET', '/v2/x']);
    expectGolden('api', ran.err);
  });

  describe.each(formats)('the deepest JSON that is accepted', (format) => {
    it.each(['lists', 'objects'] as const)(`is printed as ${format}: %s`, async (shape) => {
      const host = await hostWith(nested(maxJsonDepth, shape));
      for (const query of [[], ['--query', '@'], ['--query', '{b: @}']]) {
        const ran = await runCloudctl(host, ['api', 'GET', '/v2/x', '-o', format, ...query]);
        expect(ran).toMatchObject({ code: 0, err: '' });
        expect(ran.out.length).toBeGreaterThan(maxJsonDepth);
      }
    });
  });
});
