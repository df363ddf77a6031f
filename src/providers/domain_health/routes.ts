import { z } from 'zod';
import { inProject } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import { pageOf, pageQuery } from '../../base/page.ts';
import { route } from '../../base/route.ts';
import type { Addressed, Limit } from '../../base/route.ts';
import { findProvider } from '../queries.ts';
import type { ProviderRow } from '../queries.ts';
import {
  DOMAIN_CHECKS_PER_HOUR,
  readDomainHealth,
  readHistory,
  recordDomainHealth,
} from './acts.ts';
import { DKIM_SELECTORS_MAX } from './dkim/dkim.ts';
import { CHECK_TIME_MAX_MS, DNS_QUERIES_MAX } from './dns.ts';
import { HISTORY_CHANGES_MAX, HISTORY_DAYS } from './record.ts';
import { DomainCheckInput, DomainHealth, DomainHealthChange, DomainQuery } from './schema.ts';

const ProviderParams = z.object({ id: z.uuid().meta({ description: "The provider's id." }) });

const PATH = '/v1/email-providers/:id/domain-health';

const find = ({ deps, caller, params }: Addressed): Promise<ProviderRow | null> => {
  const named = ProviderParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findProvider(scope, named.data.id));
};

const whereOf = ({ deps, caller: { projectId } }: Pick<Addressed, 'deps' | 'caller'>) => ({
  deps,
  projectId,
});

export const domainRoutes = [
  route({
    method: 'GET',
    path: PATH,
    access: 'server',
    summary: "Check SPF, DKIM, DMARC, the reverse-path and MX of a sender's domain.",
    description:
      'Queries name servers each time and stores nothing. What they do not answer is `unknown`, never missing.',
    params: ProviderParams,
    query: DomainQuery,
    refusals: ['rate_limited'],
    status: 200,
    answer: DomainHealth,
    find,
    handle: ({ found, query, ...inbound }) => readDomainHealth(whereOf(inbound), found, query),
  }),
  route({
    method: 'POST',
    path: PATH,
    access: 'server',
    summary: "Check a sender's domain, and record what was found.",
    description:
      'As the daily check does: changes are added to the history. The fields of the body are stored for daily checks.',
    params: ProviderParams,
    refusals: ['rate_limited'],
    body: DomainCheckInput,
    isBodyOptional: true,
    status: 200,
    answer: DomainHealth,
    find,
    handle: ({ found, body, repetitionId = newId(), ...inbound }) =>
      recordDomainHealth(whereOf(inbound), found, repetitionId, body),
  }),
  route({
    method: 'GET',
    path: `${PATH}/history`,
    access: 'server',
    summary: "What has changed about a sender's domain, newest first.",
    description:
      `Each domain is checked daily. The last ${HISTORY_CHANGES_MAX} changes of a provider are kept, for ` +
      `${HISTORY_DAYS} days.`,
    params: ProviderParams,
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(DomainHealthChange),
    find,
    handle: ({ found, query, ...inbound }) =>
      readHistory(whereOf(inbound), found.provider_id, query),
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
