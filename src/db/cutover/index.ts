export { checkCutover } from './check.ts';
export {
  acceptableLines,
  type ChecklistLine,
  type CutoverFacts,
  cutoverChecklist,
  firstOpenLine,
  formatChecklist,
  hasMigrationFailed,
  isUnread,
} from './checklist.ts';
export { compareDatabases } from './compare.ts';
export { divideAccepted, listAcceptable } from './comparison.ts';
export { acceptWords, buildDatabaseComparisonError, printDatabaseComparison } from './comparison-text.ts';
export { followCutover } from './follow.ts';
export {
  compareAccess,
  type DatabaseAccess,
  describeLeftStatements,
  renderAccessScript,
  type ServerAccess,
} from './postgresql/access-script.ts';
export { type AccessSection, accessSections } from './postgresql/access-statements.ts';
export type { ComparedTables, FollowLine } from './progress.ts';
export { describeCleanSource, describeRemainsQuery, findSourceRemains, type MigrationMarks } from './remains.ts';
export {
  inspectTarget,
  readRehearsalTarget,
  readTargetOption,
  readTargetServer,
  type TargetServer,
  targetPsqlCommand,
} from './target.ts';
export { openFollowView, renderWindowPage } from './view.ts';
