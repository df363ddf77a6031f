import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EmailAddress } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route, whereOf } from '../base/route.ts';
import type { Addressed, Limit, Route } from '../base/route.ts';
import { addProvider, editProvider, pageProviders, removeProvider, sendTest } from './acts.ts';
import type { ReleaseRamped } from './acts.ts';
import { ofProvider } from './addressed.ts';
import { mailboxLimits } from './bounce_mailbox/bounce_mailbox.ts';
import { CHECKS_PER_HOUR } from './checks.ts';
import { domainLimits, domainRoutes } from './domain_health/domain_health.ts';
import { RAMP_STARTS_WITHIN_DAYS_MAX } from './pace_schema.ts';
import { NAME_CHARS_MAX, Provider, ProviderChange, ProviderInput } from './schema.ts';
import { showProvider } from './shown.ts';
import type { IsStopped } from './test_provider.ts';

const ProjectParams = z.object({
  project_id: z.string().meta({
    description: 'The project that the key belongs to.',
    examples: ['019a9f0c-6c00-7cc3-98c4-dc0c0c07398f'],
  }),
});

const TestInput = z
  .strictObject({ to: EmailAddress.meta({ description: 'Who gets the one test message.' }) })
  .meta({ id: 'ProviderTest', examples: [{ to: 'ann@example.com' }] });

const ProviderDeleted = z.strictObject({ id: z.uuid(), deleted: z.literal(true) }).meta({
  id: 'ProviderDeleted',
  examples: [{ id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f', deleted: true }],
});

const findOwnProject = ({ caller, params }: Addressed): Promise<true | null> =>
  Promise.resolve(params['project_id'] === caller.projectId ? true : null);

const ONE = '/v1/email-providers/:id';
const ALL = '/v1/projects/:project_id/email-providers';

const recordRoutes = [
  route({
    method: 'POST',
    path: ALL,
    access: 'server',
    summary: 'Connect an e-mail provider.',
    description:
      'The settings are proved before they are kept: over SMTP by connecting, with the TLS mode, EHLO and AUTH; ' +
      'for SMTP2GO by asking what the key may do; for Amazon SES by a real message to its mailbox simulator. ' +
      'Settings that do not work are refused with `reason`, `cause` and `fix`, and nothing is kept.',
    params: ProjectParams,
    refusals: ['from_email_taken', 'provider_preflight_failed'],
    body: ProviderInput,
    status: 201,
    answer: Provider,
    find: findOwnProject,
    handle: ({ body, repetitionId = newId(), ...inbound }) =>
      addProvider(whereOf(inbound), repetitionId, body),
  }),
  route({
    method: 'GET',
    path: ALL,
    access: 'server',
    summary: "The project's e-mail providers, newest first.",
    params: ProjectParams,
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Provider),
    find: findOwnProject,
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageProviders(scope, query)),
  }),
  route({
    ...ofProvider,
    method: 'GET',
    path: ONE,
    summary: 'Read one e-mail provider.',
    status: 200,
    answer: Provider,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => showProvider(scope, found)),
  }),
  route({
    ...ofProvider,
    method: 'DELETE',
    path: ONE,
    summary: 'Forget an e-mail provider and its credentials.',
    description:
      'What is queued for it ends as `cancelled`, `provider_deleted`, within seconds, and so does what automations ' +
      'send through it later. What is being handed over just now is not called back.',
    status: 200,
    answer: ProviderDeleted,
    handle: ({ found, ...inbound }) => removeProvider(whereOf(inbound), found.provider_id),
  }),
];

const changeRoute = (releaseRamped: ReleaseRamped) =>
  route({
    ...ofProvider,
    method: 'PATCH',
    path: ONE,
    summary: 'Change an e-mail provider.',
    description:
      'What is left out stays, a secret too; `null` takes `from_name` or `reply_to` away. A connection field ' +
      'that is sent, or `from_email`, is proved as when the record was made; a provider that was parked, or left ' +
      'alone for a while (`pace`), is used again then. ' +
      '`"username": null` removes an SMTP login. ' +
      'Another `smtp_host`, `smtp_port` or `smtp_secure` needs the `password` again: the one that is kept is given ' +
      'to nobody else. Without it the answer is 400 with an issue at `/password`.',
    refusals: ['from_email_taken', 'provider_preflight_failed'],
    body: ProviderChange,
    status: 200,
    answer: Provider,
    handle: ({ found, body, ...inbound }) =>
      editProvider(whereOf(inbound), found, body, releaseRamped),
  });

const testRoute = (isStopped: IsStopped) =>
  route({
    ...ofProvider,
    method: 'POST',
    path: `${ONE}/test`,
    summary: 'Send one test message through an e-mail provider.',
    description:
      'A real message, over a connection of its own. If it is taken, a provider that was parked, or left alone for a ' +
      'while (`pace`), is used again at once; one whose credentials fail is parked. Failures are classes: nothing of ' +
      'what the other side said is answered. It counts as one test email of the project and of the key.',
    refusals: ['recipient_suppressed', 'provider_test_failed'],
    body: TestInput,
    status: 200,
    answer: z
      .strictObject({
        ok: z.literal(true),
        provider_message_id: z.string().nullable(),
        took_ms: z.int().nonnegative(),
      })
      .meta({
        id: 'ProviderTested',
        examples: [{ ok: true, provider_message_id: '1x2y3z-FnQW0aaaaaa-AB12', took_ms: 184 }],
      }),
    handle: ({ found, body, repetitionId = newId(), ...inbound }) =>
      sendTest(whereOf(inbound), found, { to: body.to, testId: repetitionId, isStopped }),
  });

/** Whom to leave alone, and what becomes of sends that wait, is for other rooms to say. */
export type ProviderDoors = { isStopped: IsStopped; releaseRamped: ReleaseRamped };

/** The endpoints of provider records. */
export const providerRoutes = (doors: ProviderDoors): readonly Route[] => [
  ...recordRoutes,
  changeRoute(doors.releaseRamped),
  testRoute(doors.isStopped),
  ...domainRoutes,
];

export const providerLimits: readonly Limit[] = [
  {
    name: 'Connections to providers that a project asks for, per process',
    value: CHECKS_PER_HOUR,
    unit: 'an hour',
    where: 'provider records and tests',
  },
  {
    name: 'Name of a provider, and of its sender',
    value: NAME_CHARS_MAX,
    unit: 'characters',
    where: '`display_name`, `from_name`',
  },
  {
    name: 'First day of a warm-up, ahead of today in UTC',
    value: RAMP_STARTS_WITHIN_DAYS_MAX,
    unit: 'days',
    where: '`ramp.started_on`',
  },
  ...domainLimits,
  ...mailboxLimits,
];
