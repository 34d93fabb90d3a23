export { targetOptions } from './driver.ts';
export { rehearse } from './rehearse.ts';
