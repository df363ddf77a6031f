import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Observed } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Notice } from './notice.ts';
import { toldBy } from './teller.ts';

/** What a notice is called on a timeline; the other kinds are between the provider and us. */
const NAMES: Partial<Record<Notice['kind'], Observed['name']>> = {
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

/** Mail to an address of which something was seen; which mail, where that is known. */
type Telling = { email: string | null; about: About | null; seen: Seen };

const selectorOf = ({ email, about }: Telling) =>
  about
    ? ({ by: 'id', value: about.profileId } as const)
    : ({ by: 'email', value: email ?? '' } as const);

/** What was seen of mail to some addresses, for those whom the mail was for. */
const tellPeople = async (scope: Scope, telling: readonly Telling[]): Promise<Observed[]> => {
  const told = telling.filter(({ about, email }) => about !== null || email !== null);
  const names = await profiles.listNames(scope, told.map(selectorOf), PEOPLE_MAX);
  return told.flatMap(({ about, seen: { properties, ...seen } }, nth) =>
    (names[nth] ?? []).map(({ kind, value }) => ({
      ...seen,
      externalId: kind === 'external' ? value : null,
      anonymousId: kind === 'anonymous' ? value : null,
      properties: {
        ...properties,
        ...(about ? { send_id: about.sendId } : {}),
        ...(about?.automationId ? { automation_id: about.automationId } : {}),
      },
    })),
  );
};

/** What notices put on the timelines of those whom the mail was for. */
export const observedOf = (
  scope: Scope,
  source: string,
  told: readonly { notice: Notice; about: About | null }[],
): Promise<Observed[]> =>
  tellPeople(
    scope,
    told.flatMap(({ notice: { kind, isTest, email, bounceType, occurredAt }, about }) => {
      const name = NAMES[kind];
      if (name === undefined || isTest) return [];
      const properties = { ...toldBy(source), ...(bounceType ? { bounce_type: bounceType } : {}) };
      return [{ email, about, seen: { name, properties, occurredAt } }];
    }),
  );

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
  const trace = { sendId, messageIds: [], addressKey, occurredAt: new Date() };
  const [send = null] = await delivery.findSentTo(scope, [trace]);
  return send?.send_id === sendId ? aboutOf(send) : null;
};

/** Puts an unsubscribe on the timelines of those who have the address: once for each call. After the commit, wake. */
export const observeUnsubscribed = async (scope: Scope, left: Left): Promise<void> => {
  if (await suppression.holdAddress(scope, left.addressKey)) return;
  const seen: Seen = {
    name: 'email_unsubscribed',
    properties: { by: left.by },
    occurredAt: new Date(),
  };
  const about = await findMail(scope, left);
  await ingest.observe(scope, await tellPeople(scope, [{ email: left.email, about, seen }]));
};
