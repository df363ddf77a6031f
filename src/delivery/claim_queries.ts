import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { CATEGORIES } from './queries.ts';

const Claimed = z.strictObject({
  send_id: z.uuid(),
  identity_id: z.uuid().nullable(),
  profile_id: z.uuid(),
  template_id: z.uuid(),
  template_version: z.int(),
  event_id: z.uuid().nullable(),
  event_occurred_at: z.date().nullable(),
  address_key: z.instanceof(Buffer),
  recipient: z.string(),
  automation_id: z.uuid().nullable(),
  category: z.enum(CATEGORIES),
  attempt: z.int(),
  is_test: z.boolean(),
  /** Whether its limits may keep it by now. */
  may_be_limited: z.boolean(),
  traceparent: z.string().nullable(),
  /** Whether only browsers had asserted its address, and whether a page may have chosen it, when it was planned. */
  is_unconfirmed: z.boolean(),
  is_of_page: z.boolean(),
  /** Whether it is rendered without what only a browser asserted: the provider refused it with that. */
  is_bare: z.boolean(),
});
export type Claimed = z.output<typeof Claimed>;

export type Claim = {
  providerId: string;
  owner: string;
  sendsMax: number;
  /** How many of them may be marketing email. */
  marketingMax: number;
  /** How many of them may be email that pages caused. */
  pagesMax: number;
  leaseSeconds: number;
};

export const claimSends = (
  { tx, projectId }: Scope,
  { providerId, owner, sendsMax, marketingMax, pagesMax, leaseSeconds }: Claim,
) =>
  tx.any(sql.type(Claimed)`
    select send_id, identity_id, profile_id, template_id, template_version, event_id, event_occurred_at,
      address_key, recipient, automation_id, category, attempt, is_test, may_be_limited, traceparent,
      is_unconfirmed, is_of_page, is_bare
    from delivery.claim_sends(
      project_id => ${projectId},
      provider_id => ${providerId},
      owner => ${owner},
      sends_max => ${sendsMax},
      marketing_max => ${marketingMax},
      pages_max => ${pagesMax},
      lease_for => make_interval(secs => ${leaseSeconds})
    )
  `);

const PutOff = z.strictObject({ put_off_sends: z.uuid() });

/** Lets those of some leased sends wait whose limits keep them for now; answers which. */
export const putOffSends = async (
  { tx, projectId }: Scope,
  sendIds: readonly string[],
  owner: string,
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(PutOff)`
    select put_off_sends from delivery.put_off_sends(
      project_id => ${projectId},
      send_ids => ${sql.array([...sendIds], 'uuid')},
      owner => ${owner}
    )
  `);
  return new Set(rows.map(({ put_off_sends: sendId }) => sendId));
};
