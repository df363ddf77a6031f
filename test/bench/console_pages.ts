// What the Console asks of a project, page by page: as its own queries do, and with every filter.
import { firstIdAt, newId } from '../../src/base/ids.ts';
import { toCursor } from '../../src/base/page.ts';
import { SHOWN_STATUSES } from '../../src/delivery/send_log.ts';
import { DAYS } from './console_past.ts';
import type { Subject } from './console_subject.ts';

const DAY_MS = 86_400_000;

/** One question: of which procedure, about what, with what; a change that keeps nothing is a POST. */
export type Page = { procedure: string; about: string; input: object; isPost?: boolean };

type Asked = [about: string, input: object];
const pages = (procedure: string, asked: readonly Asked[]): Page[] =>
  asked.map(([about, input]) => ({ procedure, about, input }));

const NOBODY = 'nobody-at-all@people.test';
const halfway = ({ until }: Subject): Date => new Date(until.getTime() - (DAYS / 2) * DAY_MS);
const since = ({ until }: Subject, days: number): string =>
  new Date(until.getTime() - days * DAY_MS).toISOString();
/** A place in the middle of a list whose ids are by time. */
const middle = (subject: Subject): { cursor: string } => ({
  cursor: toCursor([firstIdAt(halfway(subject))]),
});

const ofSends = (subject: Subject): Page[] => {
  const { person, sendId, suppressed } = subject;
  const deep = middle(subject);
  return [
    ...pages('sends.list', [
      ['first', {}],
      ['middle', deep],
      ...SHOWN_STATUSES.flatMap((status): Asked[] => [
        [status, { status }],
        [`${status}, middle`, { status, ...deep }],
      ]),
      ['an address', { email: person.email }],
      ['an address, bounced', { email: suppressed, status: 'bounced' }],
      ['an unknown address', { email: NOBODY }],
    ]),
    ...pages('sends.read', [['one', { sendId }]]),
    ...pages('previews.open', [['one', { sendId }]]),
    ...pages('sends.countRejected', [['of a reason', { reason: 'message_refused' }]]),
    ...pages('sends.silences', [['all', {}]]),
    ...pages('feedback.ofSend', [['one', { sendId }]]),
    ...pages('automations.explainSend', [['one', { sendId }]]),
  ];
};

const ofPeople = (subject: Subject): Page[] => {
  const { person, busyProfileId } = subject;
  const { profileId } = person;
  const halfwayIn = toCursor([since(subject, DAYS / 2), newId()]);
  return [
    ...pages('profiles.find', [
      ['an address', { query: person.email }],
      ['an external id', { query: person.externalId }],
      ['an anonymous id', { query: person.anonymousId }],
      ['a profile id', { query: profileId }],
      ['nobody', { query: NOBODY }],
    ]),
    ...pages('profiles.newest', [
      ['first', { limit: 20 }],
      ['middle', { limit: 20, ...middle(subject) }],
    ]),
    ...pages('profiles.read', [['one', { profileId }]]),
    ...pages('profiles.origins', [['one', { profileId }]]),
    ...pages('profiles.timeline', [
      ['first', { profileId }],
      ['of two thousand', { profileId: busyProfileId }],
      ['of two thousand, middle', { profileId: busyProfileId, cursor: halfwayIn }],
    ]),
    ...pages('suppressions.read', [
      ['one', { email: subject.suppressed }],
      ['an unknown address', { email: NOBODY }],
    ]),
    ...(['suppressions.list', 'suppressions.unsubscribes'] as const).flatMap((procedure) =>
      pages(procedure, [
        ['first', {}],
        ['middle', { cursor: toCursor([since(subject, DAYS / 2), 'A'.repeat(43)]) }],
        ['an address', { email: subject.suppressed }],
        ['another', { email: subject.unsubscribed }],
        ['an unknown address', { email: NOBODY }],
      ]),
    ),
  ];
};

const ofLinks = (subject: Subject): Page[] => {
  const { linkId, person } = subject;
  const week = { from: since(subject, 100), until: since(subject, 93) };
  return [
    ...pages('links.list', [
      ['first', {}],
      ['middle', middle(subject)],
      ['an external id', { identifier: person.externalId }],
      ['an anonymous id', { identifier: person.anonymousId }],
      ['nobody', { identifier: NOBODY }],
      ['a person', { profileId: person.profileId }],
      ...(['active', 'undone', 'refused'] as const).map((status): Asked => [status, { status }]),
      ...['identify', 'alias', 'console'].map((source): Asked => [source, { source }]),
      ['alias, undone', { source: 'alias', status: 'undone' }],
      ['a week long ago', week],
      ['refused, a week long ago', { status: 'refused', ...week }],
    ]),
    ...pages('links.read', [['one', { linkId }]]),
    ...pages('links.preview', [['one', { linkId }]]),
  ];
};

/** Of people: in some, in a segment by name, and whether a definition would have them. */
const ofSegments = (subject: Subject): Page[] => {
  const [segmentId = '', ...others] = subject.segmentIds;
  const none = others.at(-1) ?? '';
  const { profileId } = subject.person;
  const where = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
  return [
    ...pages('segments.list', [
      ['first', {}],
      ['to choose from', { limit: 200 }],
    ]),
    ...['segments.read', 'segments.days', 'segments.imports'].flatMap((procedure) =>
      pages(procedure, [
        ['the largest', { segmentId }],
        ['an empty one', { segmentId: none }],
      ]),
    ),
    ...pages('segments.members', [
      ['first', { segmentId }],
      ['middle', { segmentId, ...middle(subject) }],
      ['of an empty one', { segmentId: none }],
    ]),
    ...pages('segments.history', [
      ['first', { segmentId }],
      ['middle', { segmentId, cursor: toCursor([String(subject.middleEntry)]) }],
      ['of a small one', { segmentId: others.at(-2) }],
      ['of an empty one', { segmentId: none }],
    ]),
    ...pages('segments.explain', [['somebody', { segmentId, profileId }]]),
    ...pages('segments.preview', [['a trait', { definition: { where } }]]).map((page) => ({
      ...page,
      isPost: true,
    })),
  ];
};

const ofAutomations = (subject: Subject): Page[] => {
  const { automationId, templateId, person, providerId, endpointId } = subject;
  const { profileId } = person;
  return [
    ...pages('automations.list', [['first', {}]]),
    ...['automations.read', 'automations.versions', 'automations.segmentStarts'].flatMap((one) =>
      pages(one, [['the busiest', { automationId }]]),
    ),
    ...pages('automations.version', [['one', { automationId, version: 1 }]]),
    ...pages('automations.runs', [
      ['first', { automationId }],
      ['middle', { automationId, ...middle(subject) }],
      ['of somebody', { automationId, profileId }],
    ]),
    ...pages('automations.explain', [['somebody', { automationId, profileId }]]),
    ...pages('automations.endpoints', [['first', {}]]),
    ...pages('automations.withLocalLinks', [['all', {}]]),
    ...pages('endpoints.read', [['one', { endpointId }]]),
    ...pages('endpoints.deliveries', [['first', { endpointId }]]),
    ...pages('endpoints.waiting', [['one', { endpointId }]]),
    ...pages('readyMade.list', [['all', {}]]),
    ...pages('folder.exportFiles', [['all', {}]]),
    ...pages('templates.list', [
      ['first', {}],
      ['archived', { archived: true }],
    ]),
    ...['templates.read', 'templates.versions'].flatMap((procedure) =>
      pages(procedure, [['one', { templateId }]]),
    ),
    ...pages('templates.version', [['one', { templateId, version: 1 }]]),
    ...pages('providers.list', [['first', {}]]),
    ...pages('providers.read', [['one', { providerId }]]),
    ...pages('providers.domainHealth', [['one', { providerId }]]),
    ...pages('providers.domainHistory', [['first', { providerId }]]),
  ];
};

const ofSettings = (subject: Subject): Page[] => {
  const { busyId, idleId } = subject;
  const week = { from: since(subject, 100), until: since(subject, 93) };
  return [
    ...[
      'members.list',
      'invitations.list',
      'retention.read',
      'keys.list',
      'webhooks.read',
      'sendingLimits.read',
      'alerts.settings',
      'webhookTokens.list',
    ].flatMap((procedure) => pages(procedure, [['all', {}]])),
    ...(['open', 'all'] as const).flatMap((status) => pages('alerts.list', [[status, { status }]])),
    ...pages('quotas.read', [['one key', { keyIds: [newId()] }]]),
    ...pages('audit.list', [
      ['first', {}],
      ['middle', middle(subject)],
      ['by whom most is done', { actorId: busyId }],
      ['by whom little is done', { actorId: idleId }],
      ['by nobody', { actorId: newId() }],
      ['what is often done', { action: 'segments.change' }],
      ['what is seldom done', { action: 'keys.revoke' }],
      ['what was never done', { action: 'members.remove' }],
      ['seldom, by the busy', { action: 'keys.revoke', actorId: busyId }],
      ['often, by the idle', { action: 'segments.change', actorId: idleId }],
      ['a week long ago', week],
      ['seldom, a week long ago', { action: 'keys.revoke', ...week }],
    ]),
  ];
};

/** What belongs to no project is asked with each all the same. */
const ofInstallation: Page[] = [
  'session.current',
  'account.sessions',
  'access.list',
  'people.list',
  'people.invitations',
  'installation.sending',
  'projects.list',
  'audit.ofInstallation',
].flatMap((procedure) => pages(procedure, [['all', {}]]));

/** Everything that is asked of a project. */
export const pagesOf = (subject: Subject): Page[] => [
  ...ofInstallation,
  ...pages(
    'overview.read',
    ['day', 'week', 'month'].map((span) => [span, { span }]),
  ),
  ...pages('events.list', [
    ['to look on', { limit: 20 }],
    ['middle', middle(subject)],
  ]),
  ...pages('events.names', [['names to choose from', {}]]),
  ...ofSends(subject),
  ...ofPeople(subject),
  ...ofLinks(subject),
  ...ofSegments(subject),
  ...ofAutomations(subject),
  ...ofSettings(subject),
];

/** What is no page: it goes through days of people and says how far it is. */
export const NO_PAGES: readonly string[] = ['automations.simulate'];
