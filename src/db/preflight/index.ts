export { findBaselineChanges, type PreflightBaseline, type SchemaFingerprints } from './baseline.ts';
export type { CheckFinding, FindingStatus, MigrationMethod } from './finding.ts';
export { limitation, modelOf } from './formats/model.ts';
export { renderTerminal, type TerminalOptions } from './formats/terminal.ts';
export {
  deepPreflightSpecs,
  isTargetVersion,
  type PreflightOptions,
  preflightOptionSpecs,
  promptTargetVersion,
  readDeepPreflight,
  readPreflightOptions,
  rejectUnknownIds,
  requireTargetVersion,
} from './options.ts';
export type { PreflightReport, PreflightVerdict } from './report.ts';
export { runPreflight } from './run.ts';
export {
  blockedError,
  type ReportWithChanges,
  readBaseline,
  reportOptionSpecs,
  requireWritable,
  runWithFiles,
  writeError,
  writeReport,
} from './run-with-files.ts';
