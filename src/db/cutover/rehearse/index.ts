export { rehearsalPreflightOptions, runRehearsalPreflight, targetOptions } from './driver.ts';
export { buildReport, printReport, rehearsalError } from './output.ts';
export { openRehearsal, type RehearsalRun } from './run.ts';
export { formatLeftover } from './text.ts';
