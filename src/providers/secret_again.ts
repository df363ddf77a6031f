import { Refusal } from '../base/refusal.ts';
import type { ProviderRow } from './queries.ts';
import type { ProviderChange } from './schema.ts';

/** Where a password goes, and who can read it on the way. The other kinds' secrets go to fixed hosts. */
const PLACE_FIELDS = ['smtp_host', 'smtp_port', 'smtp_secure'] as const;

const MESSAGE =
  'needed again: the password that is kept is given only to the host, port and encryption that it was given for';

/**
 * Refuses to give the password that is kept to anybody but whom it was given for: who may change a record must not
 * learn its secret by naming a host of their own.
 */
export const refuseElsewhere = (row: ProviderRow, change: ProviderChange): void => {
  const isKept = row.username !== null && change.username !== null;
  if (row.provider !== 'smtp' || !isKept || change.password !== undefined) return;
  const isMoved = PLACE_FIELDS.some(
    (name) => change[name] !== undefined && change[name] !== row[name],
  );
  if (!isMoved) return;
  throw new Refusal('invalid_request', { issues: [{ path: '/password', message: MESSAGE }] });
};
