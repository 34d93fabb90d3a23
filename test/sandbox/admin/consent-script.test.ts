import { describe, expect, it } from 'vitest';
import { admin, MAYA, sandboxFor, TOMAS, userOf } from '../requests.ts';

describe('POST /_sandbox/consent', () => {
  it("accepts ask, deny, and approve with a person and one of the person's teams", async () => {
    const sandbox = await sandboxFor();
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid;
    for (const [body, shown] of [
      [{ mode: 'deny' }, { mode: 'deny' }],
      [
        { mode: 'approve', user: MAYA },
        { mode: 'approve', user: MAYA },
      ],
      [
        { mode: 'approve', user: userOf(sandbox, TOMAS).uuid, team: 'Harbour Works' },
        { mode: 'approve', user: TOMAS, team },
      ],
      [
        { mode: 'approve', user: TOMAS, team },
        { mode: 'approve', user: TOMAS, team },
      ],
      [{ mode: 'ask' }, { mode: 'ask' }],
    ]) {
      expect(JSON.parse((await admin(sandbox, 'POST', '/_sandbox/consent', body)).body)).toEqual(shown);
      expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/consent')).body)).toEqual(shown);
    }
  });

  it.each([
    {},
    { mode: 'maybe' },
    { mode: 'approve' },
    { mode: 'approve', user: 'nobody' },
    { mode: 'approve', user: MAYA, team: 'Harbour Works' },
  ])('rejects %j and keeps the script', async (body) => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
    expect((await admin(sandbox, 'POST', '/_sandbox/consent', body)).status).toBe(422);
    expect(sandbox.world.consent).toEqual({ mode: 'deny' });
  });
});
