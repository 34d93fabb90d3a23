export { blockersOf, groupBy, partsOf, reasonOf, reasons, titleOfReasons } from './entries.ts';
export { gridOf } from './markdown.ts';
export { codesOf, factsOf, foldOf, pageOf, preOf, proseOf, tableOf } from './page.ts';
