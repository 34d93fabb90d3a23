import { expect, it } from 'vitest';
import { SPEC_GAPS } from '../../../src/sandbox/spec-gaps.ts';
import { admin, sandboxFor } from '../requests.ts';

it('GET /_sandbox/choices lists every choice', async () => {
  const sandbox = await sandboxFor();
  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/choices')).body)).toEqual({ choices: SPEC_GAPS });
});
