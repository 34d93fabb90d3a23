import { expect, it } from 'vitest';
import { CHOICES } from '../../../src/sandbox/choices.ts';
import { admin, sandboxFor } from '../driver.ts';

it('GET /_sandbox/choices lists every choice', async () => {
  const sandbox = await sandboxFor();
  expect(JSON.parse((await admin(sandbox, 'GET', '/choices')).body)).toEqual({ choices: CHOICES });
});
