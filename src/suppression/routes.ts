import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EMAIL_CHARS_MAX, readEmail } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route, whereOf } from '../base/route.ts';
import type { Addressed, Again } from '../base/route.ts';
import { changesOf } from './changes.ts';
import type { Changes, Others } from './changes.ts';
import { readImport } from './import_list.ts';
import { pageSuppressions, pageUnsubscribes, readAddressState } from './listing.ts';
import {
  AddressState,
  EmailParams,
  importBody,
  Imported,
  ImportUndone,
  NewLift,
  NewSuppression,
  Suppression,
  Unsubscribe,
} from './schema.ts';
import { LIFTED_SHOWN, RESUBSCRIBED_SHOWN, SUPPRESSED_SHOWN, UNSUBSCRIBED_SHOWN } from './shown.ts';
import { findByEmail, listImportedEmails } from './suppression.ts';

export { suppressionLimits } from './schema.ts';

/** Changes of addresses by people with a server key. */
const source = 'api';

/** The address that the path names, or null when nobody ever mentioned it. */
const findAddress = async ({ deps, caller, params }: Addressed): Promise<string | null> => {
  const email = readEmail(params['email']);
  if (email === null) return null;
  const known = await inProject(deps, caller.projectId, (scope) => findByEmail(scope, email));
  return known && email;
};

const ImportParams = z.object({ id: z.uuid().meta({ description: "The import's id." }) });

/** The import that the path names, or null. */
const findImport = async ({ deps, caller, params }: Addressed): Promise<string | null> => {
  const named = ImportParams.safeParse(params);
  if (!named.success) return null;
  const { count } = await inProject(deps, caller.projectId, (scope) =>
    listImportedEmails(scope, named.data.id, 1),
  );
  return count > 0 ? named.data.id : null;
};

const AddressQuery = z.strictObject({
  ...pageQuery,
  email: z
    .string()
    .min(1, 'must not be empty')
    .max(EMAIL_CHARS_MAX, `at most ${EMAIL_CHARS_MAX} characters`)
    .optional()
    .meta({ description: 'Only this address, in whatever case.' }),
});

const SOURCE = /^[a-z][a-z0-9_/-]{0,63}$/;

const SuppressionQuery = AddressQuery.extend({
  source: z
    .string()
    .regex(SOURCE, 'must be a source as suppressions show it, such as webhook/smtp')
    .optional()
    .meta({
      description:
        'Only what this source said, such as `webhook/smtp`: to look it through, and lift.',
    }),
});

const readRoutes = [
  route({
    method: 'GET',
    path: '/v1/suppressions',
    access: 'server',
    summary: 'List suppressed addresses, newest first.',
    description:
      'Asked with `email`, whether that address is: one item, or none. An address is found also after its person ' +
      'was erased. Asked with `source`, those that this source suppressed.',
    query: SuppressionQuery,
    status: 200,
    answer: pageOf(Suppression),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageSuppressions(scope, query)),
  }),
  route({
    method: 'GET',
    path: '/v1/suppressions/:email',
    access: 'server',
    summary: 'Read how an address stands, and why.',
    params: EmailParams,
    status: 200,
    answer: AddressState,
    find: findAddress,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => readAddressState(scope, found)),
  }),
  route({
    method: 'GET',
    path: '/v1/unsubscribes',
    access: 'server',
    summary: 'List addresses that are unsubscribed from marketing mail, the latest word first.',
    description:
      'Asked with `email`, whether that address is: one item, or none. Suppressions are a list of their own.',
    query: AddressQuery,
    status: 200,
    answer: pageOf(Unsubscribe),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageUnsubscribes(scope, query)),
  }),
];

const importRoutes = (changes: Changes) => [
  route({
    method: 'POST',
    path: '/v1/suppression-imports',
    access: 'server',
    summary: 'Suppress or unsubscribe a list of addresses.',
    description:
      'For lists from elsewhere. An import only adds: it frees nobody, and weakens no reason that is there. What it ' +
      'said can be taken back as a whole, by its `import_id`. A list of which nothing can be read is refused.',
    ...importBody,
    status: 201,
    answer: Imported,
    handle: async ({ deps, caller, body, repetitionId }) => {
      const { items, errors } = readImport(body);
      const told = { importId: repetitionId ?? newId(), source: 'import', note: body.note ?? null };
      await changes.addImport({ deps, projectId: caller.projectId }, told, items);
      return { import_id: told.importId, addresses: items.length, errors };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/suppression-imports/:id/undo',
    access: 'server',
    summary: 'Take an import back.',
    description: 'Whoever was suppressed or unsubscribed by anybody else, before or since, stays.',
    params: ImportParams,
    status: 200,
    answer: ImportUndone,
    find: findImport,
    handle: async ({ deps, caller, found }) => {
      const where = { deps, projectId: caller.projectId };
      const released = await changes.undoImport(where, { importId: found, source });
      return { import_id: found, released };
    },
  }),
];

/** The request itself names the address: nothing of the answer is kept. */
const again: Again = {
  idIn: () => '',
  find: async ({ deps, caller, params, body }) => {
    const email = params['email'] ?? NewSuppression.parse(body).email;
    return inProject(deps, caller.projectId, async (scope) =>
      (await findByEmail(scope, email)) ? readAddressState(scope, email) : null,
    );
  },
};

const described = { method: 'POST', access: 'server', answer: AddressState, again } as const;
/** The same request again is the same change. */
const idOf = (repetitionId: string | undefined) =>
  repetitionId === undefined ? {} : { changeId: repetitionId };
const noteOf = (note: string | undefined) => (note === undefined ? {} : { note });

const suppressRoutes = (changes: Changes) => [
  route({
    ...described,
    path: '/v1/suppressions',
    example: SUPPRESSED_SHOWN,
    summary: 'Suppress an address.',
    description: 'Once this is answered, no hand-off of mail to the address begins.',
    body: NewSuppression,
    status: 201,
    handle: ({ body: { email, note }, repetitionId, ...inbound }) => {
      const said = { email, source, ...noteOf(note), ...idOf(repetitionId) };
      return changes.suppress(whereOf(inbound), said);
    },
  }),
  route({
    ...described,
    path: '/v1/suppressions/:email/lift',
    example: LIFTED_SHOWN,
    summary: 'Take an address off the list.',
    description:
      'What providers report later of times before the lift changes nothing; a newer bounce or complaint ' +
      'suppresses again. An unsubscribe is not touched.',
    params: EmailParams,
    find: findAddress,
    body: NewLift,
    status: 200,
    refusals: ['complaint_not_confirmed'],
    handle: ({ found, body: { reason: note, lift_complaint }, repetitionId, ...inbound }) => {
      const said = { email: found, source, note, liftsComplaints: lift_complaint };
      return changes.lift(whereOf(inbound), { ...said, ...idOf(repetitionId) });
    },
  }),
];

const subscriptionRoutes = (changes: Changes) => [
  route({
    ...described,
    path: '/v1/unsubscribes',
    example: UNSUBSCRIBED_SHOWN,
    summary: 'Unsubscribe an address from marketing mail.',
    description:
      'For preference pages of your own. Once this is answered, no hand-off of marketing mail to it begins.',
    body: NewSuppression,
    status: 201,
    handle: ({ body: { email, note }, repetitionId, ...inbound }) => {
      const said = { email, source, ...noteOf(note), ...idOf(repetitionId) };
      return changes.unsubscribe(whereOf(inbound), said);
    },
  }),
  route({
    ...described,
    path: '/v1/unsubscribes/:email/resubscribe',
    example: RESUBSCRIBED_SHOWN,
    summary: 'Subscribe an address again, because its owner asked for it.',
    description: 'Lifts no suppression: who complained or bounced stays on that list.',
    params: EmailParams,
    find: findAddress,
    status: 200,
    handle: ({ found, repetitionId, ...inbound }) => {
      const said = { email: found, source, ...idOf(repetitionId) };
      return changes.resubscribe(whereOf(inbound), said);
    },
  }),
];

/** Each by what other rooms do about it: this room asks none of them, its door does. */
export const suppressionRoutes = (others: Others) => {
  const changes = changesOf(others);
  return [
    ...readRoutes,
    ...importRoutes(changes),
    ...suppressRoutes(changes),
    ...subscriptionRoutes(changes),
  ];
};
