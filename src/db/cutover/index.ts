export { compareDatabases } from './compare.ts';
export { divideAccepted } from './comparison.ts';
export { acceptWords, buildDatabaseComparisonError, printDatabaseComparison } from './comparison-text.ts';
export {
  compareAccess,
  describeLeftStatements,
  renderAccessScript,
  type ServerAccess,
} from './postgresql/access-script.ts';
export { type AccessSection, accessSections } from './postgresql/access-statements.ts';
export { runCutover } from './run.ts';
export { requireStoppable, stopMigration } from './stop.ts';
export {
  inspectTarget,
  readTargetOption,
  readTargetServer,
} from './target.ts';
