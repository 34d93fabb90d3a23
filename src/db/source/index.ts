export { type DbSource, promptForDbPassword, readSource, sourceOptionSpecs } from './options.ts';
export {
  manualCopyCommands,
  quotedSourceArgs,
  sourceArgs,
  sourceUrlText,
  targetUrlText,
  unreachableHint,
} from './words.ts';
