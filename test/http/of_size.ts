// Values of so much of something.
export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
export const keys = (count: number) => Object.fromEntries(times(count, (at) => [`key_${at}`, at]));
export const chars = (count: number) => 'x'.repeat(count);
/** A text of so many bytes that has fewer characters. */
export const bytes = (count: number) => 'ü'.repeat(Math.floor(count / 2)) + chars(count % 2);
/** JSON of so many bytes. */
export const padded = (body: unknown, count: number) => JSON.stringify(body).padEnd(count);
/** Objects inside each other. */
export const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
/** An e-mail address of so many characters. */
export const addressOf = (count: number): string => {
  const [local, end] = ['a'.repeat(64), '.example'];
  const host = times(count - local.length - 1 - end.length, (at) => (at % 50 === 49 ? '.' : 'h'));
  return `${local}@${host.join('')}${end}`;
};
