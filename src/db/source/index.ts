export {
  clusterArgument,
  type DbSource,
  isCluster,
  namesSource,
  promptPassword,
  readCluster,
  readSource,
  sourceOptionSpecs,
} from './options.ts';
export {
  manualCopyCommands,
  sourceArgs,
  sourceUrlText,
  sourceWords,
  targetUrlText,
  targetWords,
  unreachableHint,
} from './words.ts';
