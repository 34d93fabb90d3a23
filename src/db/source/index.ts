export { type DbSource, namesSource, promptForDbPassword, readSource, sourceOptionSpecs } from './options.ts';
export {
  manualCopyCommands,
  quotedSourceArgs,
  sourceArgs,
  sourceUrlText,
  targetUrlText,
  unreachableHint,
} from './words.ts';
