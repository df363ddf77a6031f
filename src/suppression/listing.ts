import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { listSuppressed, listUnsubscribed } from './list_queries.ts';
import type { AddressPage, Listed, Unsubscribed } from './list_queries.ts';
import { addressKey, findByEmail, listChanges } from './suppression.ts';

/** An address key is 32 bytes, so 43 characters of base64url. */
const Position = z.tuple([z.iso.datetime(), z.string().regex(/^[\w-]{43}$/)]);

const toSuppression = ({ email, reason, source, suppressed_at }: Listed) => ({
  email,
  reason,
  source,
  created_at: suppressed_at.toISOString(),
});

const toUnsubscribe = ({ email, source, unsubscribed_at }: Unsubscribed) => ({
  email,
  source,
  unsubscribed_at: unsubscribed_at.toISOString(),
});

type AddressQuery = PageQuery & { email?: string | undefined; source?: string | undefined };

/** What a list of addresses is made of: its rows from a place on, when each came there, and how it is shown. */
type Listing<Row, Item> = {
  list: (scope: Scope, page: AddressPage) => Promise<readonly Row[]>;
  since: (row: Row) => Date;
  item: (row: Row) => Item;
};

/** One page of a list, newest first; of one address, if it is asked for. */
const pagesOf =
  <Row extends { address_key: Buffer }, Item>({ list, since, item }: Listing<Row, Item>) =>
  async (scope: Scope, query: AddressQuery) => {
    const position = readCursor(Position, query.cursor);
    const rows = await list(scope, {
      limit: query.limit + 1,
      before: position && {
        since: new Date(position[0]),
        addressKey: Buffer.from(position[1], 'base64url'),
      },
      addressKey: query.email === undefined ? null : addressKey(scope, query.email),
      source: query.source ?? null,
    });
    return toPage(rows, query.limit, {
      item,
      position: (row) => [since(row).toISOString(), row.address_key.toString('base64url')],
    });
  };

/** The suppressed addresses as the API shows them. */
export const pageSuppressions = pagesOf({
  list: listSuppressed,
  since: ({ suppressed_at }: Listed) => suppressed_at,
  item: toSuppression,
});

/** The unsubscribed addresses. */
export const pageUnsubscribes = pagesOf({
  list: listUnsubscribed,
  since: ({ said_at }: Unsubscribed) => said_at,
  item: toUnsubscribe,
});

/** An address as the API shows it: how it stands, and what was done about it. */
export const readAddressState = async (scope: Scope, email: string) => {
  const known = await findByEmail(scope, email);
  const history = await listChanges(scope, addressKey(scope, email));
  return {
    email: known?.email ?? null,
    suppressed:
      known?.reason && known.source && known.suppressed_at
        ? {
            reason: known.reason,
            source: known.source,
            created_at: known.suppressed_at.toISOString(),
          }
        : null,
    unsubscribed_at: known?.unsubscribed_at?.toISOString() ?? null,
    history: history.map((one) => ({ ...one, changed_at: one.changed_at.toISOString() })),
  };
};
