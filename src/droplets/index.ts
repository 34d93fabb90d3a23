// Creates a droplet for each name exactly once, and deletes droplets. Other folders import this file only.

export { accountOf, requireSameAccount } from './account.ts';
export { newBatchHint } from './again.ts';
export { deleteBatch, deleteDroplets, requireDeletable } from './delete.ts';
export { type Batch, ifExistsChoices } from './events.ts';
export { openLedger, readLedger } from './ledger.ts';
export { attributeOptions, describeBatch, readLedgerSelection, requireSameOptions } from './options.ts';
export { dryRunView, planView, printDryRun, printPlan } from './plan.ts';
export { resultView } from './report.ts';
export { createRetry, repeatStep } from './retry.ts';
export { resumeCommand, runBatch } from './run.ts';
export { readBatchDroplets, showBatch, showView } from './show.ts';
export { type BatchState, createState, isFinished } from './state.ts';
export { findLedger, listBatches, type StoredBatch, startLedger } from './stored.ts';
export { timeLimits } from './times.ts';
export { readUserData } from './user-data.ts';
