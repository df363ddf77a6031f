import type { Scope } from '../base/db.ts';
import type { Observed } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { Notice } from './notice.ts';

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

const selectorOf = ({ email }: Notice, about: About | null): profiles.Selector =>
  about ? { by: 'id', value: about.profileId } : { by: 'email', value: email };

/** What a notice puts on the timelines of those whom the mail was for. */
export const observedOf = async (
  scope: Scope,
  source: string,
  notice: Notice,
  about: About | null,
): Promise<Observed[]> => {
  const name = NAMES[notice.kind];
  if (name === undefined || notice.isTest) return [];
  const properties = {
    webhook: source,
    ...(about ? { send_id: about.sendId } : {}),
    ...(about?.automationId ? { automation_id: about.automationId } : {}),
    ...(notice.bounceType ? { bounce_type: notice.bounceType } : {}),
  };
  const names = await profiles.listNames(scope, selectorOf(notice, about), PEOPLE_MAX);
  return names.map(({ kind, value }) => ({
    name,
    externalId: kind === 'external' ? value : null,
    anonymousId: kind === 'anonymous' ? value : null,
    properties,
    occurredAt: notice.occurredAt,
  }));
};
