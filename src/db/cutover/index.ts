export { runComparison } from './compare.ts';
export { accessSections } from './postgresql/access-statements.ts';
export { runCutover } from './run.ts';
export { printGrants, printSequences } from './scripts.ts';
export { requireStoppable, stopMigration } from './stop.ts';
export { inspectTarget, readTargetOption, targetOption } from './target.ts';
