import { describe } from 'vitest';
import { ownerTests } from './owner-tests.ts';

describe.each([15, 16, 17] as const)('PostgreSQL %i', (version) => ownerTests(version));
