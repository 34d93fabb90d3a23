import { describe, expect, it, test } from 'vitest';
import { checkHttpMessageFraming } from '../../../src/sandbox/http/server.ts';
import { callApi, sandboxFor, sendBytes, tokenFor } from '../requests.ts';

describe('the end of a message is unambiguous', () => {
  it.each([
    [undefined, 1, undefined],
    ['chunked', 1, undefined],
    ['CHUNKED', 1, undefined],
    [', chunked', 1, undefined],
    ['gzip, chunked', 1, 501],
    ['chunked, chunked', 1, 501],
    ['gzip', 1, 400],
    ['chunked, gzip', 1, 400],
    ['', 1, 400],
    ['xchunked', 1, 400],
    ['chunked', 0, 400],
    ['gzip, chunked', 0, 400],
  ])('Transfer-Encoding %j in HTTP/1.%i is %s', (codings, httpVersionMinor, status) => {
    const headers = codings === undefined ? {} : { 'transfer-encoding': codings };
    expect(checkHttpMessageFraming({ headers, httpVersionMajor: 1, httpVersionMinor })).toBe(status);
  });
});

test.each([
  ['1.1', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n', 501],
  ['1.1', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 501],
  ['1.1', 'Transfer-Encoding: gzip', '0\r\n\r\n', 400],
  ['1.1', 'Transfer-Encoding:\r\nContent-Length: 5', '0\r\n\r\n', 400],
  ['1.1', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 400],
  ['1.0', 'Connection: keep-alive\r\nTransfer-Encoding: chunked', '0\r\n\r\n', 400],
])('a request after a message of HTTP/%s with %j is not carried out', async (version, header, body, status) => {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox);
  const origin = sandbox.ready.base_url;
  const { host } = new URL(origin);
  const bearer = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  const behind = JSON.stringify({ name: 'behind', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' });
  const creation = `POST /v2/droplets HTTP/1.1\r\n${bearer}\r\nContent-Length: ${behind.length}\r\n\r\n${behind}`;
  const answer = await sendBytes(
    origin,
    Buffer.from(`POST /v2/droplets HTTP/${version}\r\n${bearer}\r\n${header}\r\n\r\n${body}${creation}`),
    2_000,
  );
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  const { meta } = JSON.parse((await callApi(sandbox, token, 'GET', '/v2/droplets')).body);
  expect(meta.total).toBe(3);
});
