/** What an alert can be about. */
export const SUBJECT_TYPES = ['provider', 'webhook', 'endpoint'] as const;

/** What the alerts of a kind are about, and the title of each. A new kind is a new line. */
export const ALERT_KINDS = {
  provider_held: { subject: 'provider', title: 'Email provider held' },
  provider_parked: { subject: 'provider', title: 'Email provider parked' },
  mailbox_failing: { subject: 'provider', title: 'Bounce mailbox cannot be read' },
  topic_pending: { subject: 'webhook', title: 'Amazon SNS topics wait for approval' },
  domain_worse: { subject: 'provider', title: 'Domain health got worse' },
  endpoint_failing: { subject: 'endpoint', title: 'Webhook endpoint takes nothing' },
  bounce_rate: { subject: 'provider', title: 'Bounce rate too high' },
  complaint_rate: { subject: 'provider', title: 'Complaint rate too high' },
} as const satisfies Record<string, { subject: (typeof SUBJECT_TYPES)[number]; title: string }>;

export type AlertKind = keyof typeof ALERT_KINDS;

const isKind = (kind: string): kind is AlertKind => Object.hasOwn(ALERT_KINDS, kind);

/** Returns what is known of a kind; of one that a newer release recorded, its name. */
export const describeKind = (kind: string) =>
  isKind(kind) ? ALERT_KINDS[kind] : ({ subject: 'provider', title: kind } as const);

/** Returns the type of the webhooks about alerts of a kind. */
export const webhookTypeOf = <Kind extends string>(kind: Kind): `system.${Kind}` =>
  `system.${kind}`;

/** The types of webhooks about alerts. */
export const ALERT_WEBHOOK_TYPES: readonly `system.${AlertKind}`[] = (
  Object.keys(ALERT_KINDS) as AlertKind[]
).map((kind) => webhookTypeOf(kind));

/** Returns where the Console shows the subject of an alert. */
export const consolePathOf = (projectId: string, kind: string, subject: string): string => {
  const settings = `/console/p/${projectId}/settings`;
  const pages = {
    provider: `${settings}/providers/${subject}`,
    webhook: `${settings}/webhooks`,
    endpoint: `${settings}/endpoints`,
  };
  return pages[describeKind(kind).subject];
};
