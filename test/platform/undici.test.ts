import { Agent, DecoratorHandler, Dispatcher } from 'undici';
import { expect, it } from 'vitest';
import * as parts from '../../src/platform/undici.ts';

it('the parts of undici are the ones its index gives', () => {
  expect(parts.Agent).toBe(Agent);
  expect(parts.DecoratorHandler).toBe(DecoratorHandler);
  expect(parts.request).toBe(Dispatcher.prototype.request);
});
