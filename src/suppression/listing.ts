import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import {
  addressKey,
  findByEmail,
  listChanges,
  listSuppressed,
  listUnsubscribed,
} from './suppression.ts';
import type { Suppressed, Unsubscribed } from './suppression.ts';

/** An address key is 32 bytes, so 43 characters of base64url. */
const Position = z.tuple([z.iso.datetime(), z.string().regex(/^[\w-]{43}$/)]);

const toSuppression = ({ email, reason, source, suppressed_at }: Suppressed) => ({
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

type AddressQuery = PageQuery & { email?: string | undefined };

const keyOf = (scope: Scope, { email }: AddressQuery): Buffer | null =>
  email === undefined ? null : addressKey(scope, email);

/** One page of the suppressed addresses as the API shows them, newest first; of one address, if it is asked for. */
export const pageSuppressions = async (scope: Scope, query: AddressQuery) => {
  const position = readCursor(Position, query.cursor);
  const before = position && {
    suppressedAt: new Date(position[0]),
    addressKey: Buffer.from(position[1], 'base64url'),
  };
  const rows = await listSuppressed(scope, {
    limit: query.limit + 1,
    before,
    addressKey: keyOf(scope, query),
  });
  return toPage(rows, query.limit, {
    item: toSuppression,
    position: (row) => [row.suppressed_at.toISOString(), row.address_key.toString('base64url')],
  });
};

/** One page of the unsubscribed addresses, like the above. */
export const pageUnsubscribes = async (scope: Scope, query: AddressQuery) => {
  const position = readCursor(Position, query.cursor);
  const before = position && {
    unsubscribedAt: new Date(position[0]),
    addressKey: Buffer.from(position[1], 'base64url'),
  };
  const rows = await listUnsubscribed(scope, {
    limit: query.limit + 1,
    before,
    addressKey: keyOf(scope, query),
  });
  return toPage(rows, query.limit, {
    item: toUnsubscribe,
    position: (row) => [row.unsubscribed_at.toISOString(), row.address_key.toString('base64url')],
  });
};

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
