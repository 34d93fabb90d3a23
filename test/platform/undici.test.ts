import { Agent } from 'undici';
import PartialAgent from 'undici/lib/dispatcher/agent.js';
import { expect, it } from 'vitest';

it('the part of undici that is loaded is the one its index gives', () => {
  expect(PartialAgent).toBe(Agent);
});
