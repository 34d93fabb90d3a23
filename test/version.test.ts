import { expect, it } from 'vitest';
import { version } from '../src/version.ts';

it('a run from the sources does not claim to be a release', () => {
  expect(version).toBe('0.0.0-source');
});
