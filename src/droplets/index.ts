// Creates a droplet for each name exactly once, and deletes droplets. Other rooms import this file only.

export { createDroplets } from './create.ts';
export { deleteBatch } from './delete.ts';
export { ifExistsChoices } from './events.ts';
export { creationLimitOptions, limitOptions } from './limits.ts';
export { attributeOptions } from './options.ts';
export { deleteSelected, findDroplet } from './select.ts';
export { showBatch } from './show.ts';
export { listBatches, storedView } from './stored.ts';
export { timeLimits } from './times.ts';
