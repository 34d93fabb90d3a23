// Loaded before the program (`node --require`): every lock succeeds and excludes nobody, as on a network file system that does
// not share its locks.
const Module = require('node:module');
const load = Module._load;
Module._load = function (request, ...rest) {
  return request === 'fs-native-extensions' ? { tryLock: () => true } : load.call(this, request, ...rest);
};
