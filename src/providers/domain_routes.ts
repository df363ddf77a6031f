import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { nameServersOf } from '../base/resolve_host.ts';
import { route } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import { DKIM_SELECTORS_MAX, includeOf, lookAtDomain } from './domain_health.ts';
import { FINDINGS } from './domain_names.ts';
import { findProvider } from './queries.ts';
import type { ProviderRow } from './queries.ts';

const Status = z.enum(FINDINGS).meta({
  description:
    '`good`; `warning`: works, could be better; `bad`: mail will be refused or end as spam; `unknown`: nobody said.',
});

const Finding = z.strictObject({
  status: Status,
  summary: z.string().meta({ description: 'What was found, and what to do.' }),
  found: z.array(z.string()).meta({ description: 'The records that are there.' }),
  publish: z
    .strictObject({ name: z.string(), type: z.enum(['TXT', 'CNAME']), value: z.string() })
    .nullable()
    .meta({ description: 'The record to publish instead, to be copied exactly.' }),
});

const good = (summary: string, found: string[] = []) => ({
  status: 'good' as const,
  summary,
  found,
  publish: null,
});

const DomainHealth = z
  .strictObject({
    domain: z.string().meta({ description: 'The domain of from_email.' }),
    organisation: z.string().meta({ description: 'The domain that its owner registered.' }),
    status: Status,
    spf: Finding,
    dkim: z.array(Finding.extend({ selector: z.string() })),
    dmarc: Finding,
    alignment: Finding.meta({
      description: 'Whether receivers authenticate the domain that people see, as DMARC wants.',
    }),
    replies: Finding.meta({ description: 'Whether replies arrive: MX.' }),
    checked_at: z.iso.datetime(),
  })
  .meta({
    id: 'DomainHealth',
    description: 'What receivers will find out about the domain of a sender.',
    examples: [
      {
        domain: 'mail.example.com',
        organisation: 'example.com',
        status: 'bad',
        spf: {
          status: 'bad',
          summary: 'There is no SPF record.',
          found: [],
          publish: {
            name: 'mail.example.com',
            type: 'TXT',
            value: 'v=spf1 include:amazonses.com -all',
          },
        },
        dkim: [
          {
            selector: 's1',
            ...good('The key is published, 2048 bits.', ['v=DKIM1; k=rsa; p=MIIB…']),
          },
        ],
        dmarc: good('Published with p=reject.', [
          'v=DMARC1; p=reject; rua=mailto:dmarc@example.com; fo=1',
        ]),
        alignment: good('Messages signed with s1._domainkey.mail.example.com pass DMARC.'),
        replies: good('Replies find their way.', ['10 mx.example.com']),
        checked_at: '2026-01-31T12:00:00.000Z',
      },
    ],
  });

/** A label, or several with dots, as they stand before `._domainkey` (RFC 6376 §3.1). */
const SELECTOR = /^(?=.{1,63}$)[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?$/i;

/** Which selectors to look for. */
export const DomainQuery = z.strictObject({
  dkim_selectors: z
    .string()
    .optional()
    .transform((list) => (list ?? '').split(',').filter(Boolean))
    .refine(
      (selectors) => selectors.length <= DKIM_SELECTORS_MAX,
      `at most ${DKIM_SELECTORS_MAX} selectors`,
    )
    .refine(
      (selectors) => selectors.every((selector) => SELECTOR.test(selector)),
      'names of selectors, separated by commas, such as s1,s2',
    )
    .meta({
      description:
        'The DKIM selectors that the provider issued, separated by commas; without them the usual ones are tried.',
    }),
});

const ProviderParams = z.object({ id: z.uuid().meta({ description: "The provider's id." }) });

/** What receivers find out about a provider's sender just now. */
export const readDomainHealth = async (
  deps: Deps,
  row: ProviderRow,
  selectors: string[],
): Promise<z.output<typeof DomainHealth>> => {
  const look = { fromEmail: row.from_email, include: includeOf(row), selectors };
  const health = await lookAtDomain(nameServersOf(deps), look);
  return { ...health, checked_at: new Date().toISOString() };
};

export const domainRoutes = [
  route({
    method: 'GET',
    path: '/v1/email-providers/:id/domain-health',
    access: 'server',
    summary: "Look at SPF, DKIM, DMARC and MX of a sender's domain.",
    description:
      'Asks name servers anew each time and keeps nothing. What they do not answer is `unknown`, never missing; ' +
      'a change may take hours to be seen everywhere.',
    params: ProviderParams,
    query: DomainQuery,
    status: 200,
    answer: DomainHealth,
    find: ({ deps, caller, params }) => {
      const named = ProviderParams.safeParse(params);
      if (!named.success) return Promise.resolve(null);
      return inProject(deps, caller.projectId, (scope) => findProvider(scope, named.data.id));
    },
    handle: ({ deps, found, query }) => readDomainHealth(deps, found, query.dkim_selectors),
  }),
];

export const domainLimits: readonly Limit[] = [
  {
    name: 'DKIM selectors of one look',
    value: DKIM_SELECTORS_MAX,
    unit: 'items',
    where: '`dkim_selectors`',
  },
];
