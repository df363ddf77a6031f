import { z } from 'zod';
import { Refusal } from './refusal.ts';

export const PAGE_ITEMS_DEFAULT = 50;
export const PAGE_ITEMS_MAX = 200;

/** A number as people write it, and JSON: `Number` also reads blanks, `1e2`, `0x10` and `5.0`. */
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d*)$/;

const readInteger = (text: unknown): unknown =>
  typeof text === 'string' && PLAIN_INTEGER.test(text) ? Number(text) : text;

/** The query members of every list. */
export const pageQuery = {
  limit: z
    .preprocess(
      readInteger,
      z
        .int('must be a whole number, in digits')
        .min(1, 'at least 1')
        .max(PAGE_ITEMS_MAX, `at most ${PAGE_ITEMS_MAX}`),
    )
    .default(PAGE_ITEMS_DEFAULT)
    .meta({ description: 'How many items a page holds at most.', default: PAGE_ITEMS_DEFAULT }),
  cursor: z.string().optional().meta({
    description: 'Where the page begins: `next_cursor` of the page before, unchanged.',
  }),
};

/** What every list is asked for. */
export type PageQuery = { limit: number; cursor?: string | undefined };

/** The same for procedures, whose clients send numbers as numbers. */
export const listInput = z.object({
  limit: z.int().min(1).max(PAGE_ITEMS_MAX).default(PAGE_ITEMS_DEFAULT),
  cursor: pageQuery.cursor,
});

/** The shape of every list's answer. */
export const pageOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({
    items: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({
        description: 'Send it as `cursor` for the next page; null on the last.',
        examples: [null],
      }),
  });

/** A position in a list, as text a client hands back unread. */
export const toCursor = (position: readonly string[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

/** The position behind a cursor, checked; null without a cursor. Refuses one that is not ours. */
export const readCursor = <S extends z.ZodType>(
  schema: S,
  cursor: string | undefined,
): z.output<S> | null => {
  if (cursor === undefined) return null;
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch (cause) {
    const issues = [
      {
        path: '/cursor',
        message: 'not a cursor of this list: take next_cursor of the page before',
      },
    ];
    throw new Refusal('invalid_request', { issues, cause });
  }
};

/** One page from one row more than it holds: the extra row only says that there is a next page. */
export const toPage = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  { item, position }: { item: (row: Row) => Item; position: (row: Row) => string[] },
): { items: Item[]; next_cursor: string | null } => {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(item),
    next_cursor: rows.length > limit && last !== undefined ? toCursor(position(last)) : null,
  };
};
