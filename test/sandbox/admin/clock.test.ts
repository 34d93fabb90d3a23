import { describe, expect, it } from 'vitest';
import { admin, sandboxFor } from '../requests.ts';

describe('POST /_sandbox/clock', () => {
  it('moves forward, freezes and resumes', async () => {
    const sandbox = await sandboxFor({ now: () => 1_000_000_000_000 });
    const read = async (body?: object): Promise<object> =>
      JSON.parse((await admin(sandbox, body === undefined ? 'GET' : 'POST', '/_sandbox/clock', body)).body);
    expect(await read()).toEqual({ now: '2001-09-09T01:46:40.000Z', frozen: false, offset_ms: 0 });
    expect(await read({ advance: '+10m' })).toMatchObject({ now: '2001-09-09T01:56:40.000Z' });
    expect(await read({ advance: '30d' })).toMatchObject({ now: '2001-10-09T01:56:40.000Z' });
    expect(await read({ advance: 1 })).toMatchObject({ now: '2001-10-09T01:56:40.001Z', frozen: false });
    expect(await read({ freeze: true, advance: '1s' })).toMatchObject({
      now: '2001-10-09T01:56:41.001Z',
      frozen: true,
    });
    expect(await read({ resume: true })).toMatchObject({ now: '2001-10-09T01:56:41.001Z', frozen: false });
  });

  it.each(['-10m', '10', 'm', '', '1y', '1.5h', -1, 1.5, null, true, '999999999999d'])(
    'refuses to advance by %j',
    async (advance) => {
      const sandbox = await sandboxFor({ now: () => 0 });
      expect((await admin(sandbox, 'POST', '/_sandbox/clock', { advance })).status).toBe(422);
      expect((await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: 'yes' })).status).toBe(422);
      expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/clock')).body)).toMatchObject({
        offset_ms: 0,
        frozen: false,
      });
    },
  );
});
