import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Observed } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { toldBy } from './teller.ts';

/** What a notice is called on a timeline; the other kinds are between the provider and us. */
const NAMES: Partial<Record<Notice['kind'], string>> = {
  delivered: 'email_delivered',
  bounced: 'email_bounced',
  complained: 'email_complained',
  unsubscribed: 'email_unsubscribed',
  opened: 'email_opened',
  clicked: 'email_clicked',
};

/** Of mail that is no send of ours: so many people with the address are told of it. */
const PEOPLE_MAX = 10;

export type About = { sendId: string; profileId: string; automationId: string | null };

/** Which mail something is about. One of a test was for whoever tries an automation, not for its person. */
export const aboutOf = (send: delivery.SentTo | null): About | null =>
  send === null || send.is_test
    ? null
    : { sendId: send.send_id, profileId: send.profile_id, automationId: send.automation_id };

type Seen = Pick<Observed, 'name' | 'properties' | 'occurredAt'>;

/** Something that was seen of mail to an address, for those whom the mail was for. */
const tellPeople = async (
  scope: Scope,
  email: string | null,
  about: About | null,
  { properties, ...seen }: Seen,
): Promise<Observed[]> => {
  if (!about && email === null) return [];
  const selector: profiles.Selector = about
    ? { by: 'id', value: about.profileId }
    : { by: 'email', value: email ?? '' };
  const names = await profiles.listNames(scope, selector, PEOPLE_MAX);
  return names.map(({ kind, value }) => ({
    ...seen,
    externalId: kind === 'external' ? value : null,
    anonymousId: kind === 'anonymous' ? value : null,
    properties: {
      ...properties,
      ...(about ? { send_id: about.sendId } : {}),
      ...(about?.automationId ? { automation_id: about.automationId } : {}),
    },
  }));
};

/** What a notice puts on the timelines of those whom the mail was for. */
export const observedOf = async (
  scope: Scope,
  source: string,
  notice: Notice,
  about: About | null,
): Promise<Observed[]> => {
  const name = NAMES[notice.kind];
  if (name === undefined || notice.isTest) return [];
  const { email, bounceType, occurredAt } = notice;
  const properties = { ...toldBy(source), ...(bounceType ? { bounce_type: bounceType } : {}) };
  return tellPeople(scope, email, about, { name, properties, occurredAt });
};

/** An unsubscribe that no provider told of: by the link of a mail, or by somebody for the person. */
export type Left = {
  addressKey: Buffer;
  /** How the address reads, where that is known. */
  email: string | null;
  by: string;
  /** The mail whose link it was. */
  sendId?: string;
};

const findMail = async (scope: Scope, { sendId, addressKey }: Left): Promise<About | null> => {
  if (sendId === undefined) return null;
  const send = await delivery.findSentTo(scope, {
    sendId,
    messageIds: [],
    addressKey,
    occurredAt: new Date(),
  });
  return send?.send_id === sendId ? aboutOf(send) : null;
};

/** Puts an unsubscribe on the timelines of those who have the address: once for each call. After the commit, wake. */
export const observeUnsubscribed = async (scope: Scope, left: Left): Promise<void> => {
  if (await suppression.holdAddress(scope, left.addressKey)) return;
  const seen = {
    name: 'email_unsubscribed',
    properties: { by: left.by },
    occurredAt: new Date(),
  };
  const about = await findMail(scope, left);
  await ingest.observe(scope, await tellPeople(scope, left.email, about, seen));
};
