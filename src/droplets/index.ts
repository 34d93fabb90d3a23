// Creates a droplet for each name exactly once, and deletes droplets. Other rooms import this file only.

export type { Actor } from './account.ts';
export { createDroplets } from './create.ts';
export { deleteBatch, deleteDroplets, requireDeletable } from './delete.ts';
export { ifExistsChoices } from './events.ts';
export { creationLimitOptions, limitOptions, readLimits } from './limits.ts';
export { attributeOptions } from './options.ts';
export { showBatch } from './show.ts';
export { listBatches, storedView } from './stored.ts';
export { timeLimits } from './times.ts';
