import { Agent } from 'undici';
import { expect, it } from 'vitest';
import * as parts from '../../src/platform/undici.ts';

it('the part of undici is the one its index gives', () => {
  expect(parts.Agent).toBe(Agent);
});
