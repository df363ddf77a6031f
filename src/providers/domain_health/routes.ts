import { z } from 'zod';
import { inProject } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import { pageOf, pageQuery } from '../../base/page.ts';
import { route, whereOf } from '../../base/route.ts';
import type { Limit } from '../../base/route.ts';
import { ofProvider } from '../addressed.ts';
import {
  DOMAIN_CHECKS_PER_HOUR,
  pageChanges,
  readDomainHealth,
  recordDomainHealth,
} from './acts.ts';
import { DKIM_SELECTORS_MAX } from './dkim/dkim.ts';
import { CHECK_TIME_MAX_MS, DNS_QUERIES_MAX } from './dns.ts';
import { HISTORY_CHANGES_MAX, HISTORY_DAYS } from './record.ts';
import { DomainCheckInput, DomainHealth, DomainHealthChange, DomainQuery } from './schema.ts';

const PATH = '/v1/email-providers/:id/domain-health';

export const domainRoutes = [
  route({
    ...ofProvider,
    method: 'GET',
    path: PATH,
    summary: "Check SPF, DKIM, DMARC, the reverse-path and MX of a sender's domain.",
    description:
      'Queries name servers each time and stores nothing. What they do not answer is `unknown`, never missing.',
    query: DomainQuery,
    refusals: ['rate_limited'],
    status: 200,
    answer: DomainHealth,
    handle: ({ found, query, ...inbound }) => readDomainHealth(whereOf(inbound), found, query),
  }),
  route({
    ...ofProvider,
    method: 'POST',
    path: PATH,
    summary: "Check a sender's domain, and record what was found.",
    description:
      'As the daily check does: changes are added to the history. The fields of the body are stored for daily checks.',
    refusals: ['rate_limited'],
    body: DomainCheckInput,
    isBodyOptional: true,
    status: 200,
    answer: DomainHealth,
    handle: ({ found, body, repetitionId = newId(), ...inbound }) =>
      recordDomainHealth(whereOf(inbound), found, repetitionId, body),
  }),
  route({
    ...ofProvider,
    method: 'GET',
    path: `${PATH}/history`,
    summary: "What has changed about a sender's domain, newest first.",
    description:
      `Each domain is checked daily. The last ${HISTORY_CHANGES_MAX} changes of a provider are kept, for ` +
      `${HISTORY_DAYS} days.`,
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(DomainHealthChange),
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageChanges(scope, found.provider_id, query)),
  }),
];

export const domainLimits: readonly Limit[] = [
  {
    name: 'DKIM selectors of one check',
    value: DKIM_SELECTORS_MAX,
    unit: 'items',
    where: '`dkim_selectors`',
  },
  {
    name: "Checks of senders' domains that a project asks for, per process",
    value: DOMAIN_CHECKS_PER_HOUR,
    unit: 'an hour',
    where: 'domain health; daily checks are not counted',
  },
  {
    name: 'DNS queries of one check of a domain',
    value: DNS_QUERIES_MAX,
    unit: 'items',
    where: 'domain health: what is left is `unknown`',
  },
  {
    name: 'Time of one check of a domain',
    value: CHECK_TIME_MAX_MS,
    unit: 'milliseconds',
    where: 'domain health: what is left is `unknown`',
  },
  {
    name: "Changes of a sender's domain that are kept",
    value: HISTORY_CHANGES_MAX,
    unit: 'items',
    where: 'domain health: history',
  },
  {
    name: "How long changes of a sender's domain are kept",
    value: HISTORY_DAYS,
    unit: 'days',
    where: 'domain health: history',
  },
];
