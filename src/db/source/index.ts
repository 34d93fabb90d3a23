export {
  clusterArgument,
  type DbSource,
  isCluster,
  namesSource,
  promptForDbPassword,
  readCluster,
  readSource,
  sourceOptionSpecs,
} from './options.ts';
export {
  manualCopyCommands,
  quotedSourceArgs,
  sourceArgs,
  sourceUrlText,
  targetUrlText,
  unreachableHint,
} from './words.ts';
