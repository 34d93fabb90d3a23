/**
 * Checks the parts of a protocol message that the package pg does not check: an unterminated error makes pg loop
 * endlessly, and wrong lengths of values make it read beyond the message. Throws an Error for a malformed message.
 * @param kind the first byte of the message
 * @returns bytes of memory that the decoded message uses
 */
export function checkMessageAndEstimateMemory(kind: number, body: Buffer): number {
  switch (kind) {
    case dataRow:
      return checkDataRow(body);
    case rowDescription:
      checkColumnCount(body);
      return resultCost + 16 * body.length;
    case errorResponse:
    case noticeResponse:
      checkFields(body);
      return fixedCost + body.length;
    case commandComplete:
      return resultCost + body.length;
    default:
      return fixedCost + body.length;
  }
}

/**
 * The measured memory in bytes that the package pg uses for a message, for each value of a row, and for a result
 * without rows.
 */
const fixedCost = 180;
const valueCost = 24;
const resultCost = 1024;
/** The maximum number of columns of a result (https://www.postgresql.org/docs/current/limits.html). */
const maxColumns = 1664;

function checkDataRow(body: Buffer): number {
  const columns = checkColumnCount(body);
  let at = 2;
  for (let column = 0; column < columns; column++) {
    if (at + 4 > body.length) throw new Error('a row of the response is cut off');
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    if (length < -1 || at > body.length) throw new Error('a value of the response is longer than its row');
  }
  if (at !== body.length) throw new Error('a row of the response is longer than its values');
  return fixedCost + columns * valueCost + body.length;
}

function checkColumnCount(body: Buffer): number {
  const columns = body.length < 2 ? -1 : body.readInt16BE(0);
  if (columns < 0 || columns > maxColumns) throw new Error(`the response has ${columns} columns`);
  return columns;
}

/** Fields of an error message are texts that end with a zero byte; another zero byte ends the message. */
function checkFields(body: Buffer): void {
  const isTerminated = body.at(-1) === 0 && (body.length === 1 || body.at(-2) === 0);
  if (!isTerminated) throw new Error('an error message of the server is cut off');
}

const dataRow = 0x44;
const rowDescription = 0x54;
const errorResponse = 0x45;
const noticeResponse = 0x4e;
const commandComplete = 0x43;
