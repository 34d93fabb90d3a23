import { ownerTests } from './owner-tests.ts';

ownerTests(18);
