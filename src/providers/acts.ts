import { z } from 'zod';
import { resolveSubject } from '../alerts/alerts.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { deleteProvider, findProvider, listProviders } from './queries.ts';
import type { ProviderRow } from './queries.ts';
import type { ProbeMail } from './probe_message.ts';
import { changeProvider, createProvider } from './records.ts';
import type { NewProvider } from './records.ts';
import type { ProviderChange, ProviderInput } from './schema.ts';
import { showProvider } from './shown.ts';
import { testProvider } from './test_provider.ts';
import type { IsStopped, Test } from './test_provider.ts';

// What people with a server key or the Console do with providers; both doors answer the same.

type Where = { deps: Deps; projectId: string };

/** What becomes of sends that are queued for a provider is their own room's to say. */
const wakeSends = ({ deps, projectId }: Where, providerId: string): Promise<void> =>
  hint(deps, {
    task: 'delivery/send_queued',
    payload: { project_id: projectId, provider_id: providerId },
  });

/** Makes due what waits for a ramp that is no more: the sends' own room's to do. */
export type ReleaseRamped = (deps: Deps, projectId: string, providerId: string) => Promise<void>;

const show = ({ deps, projectId }: Where, row: ProviderRow) =>
  inProject(deps, projectId, (scope) => showProvider(scope, row));

/** Every field of its kind is there: the schema says so. A login may be missing, and is null then. */
const toNew = ({ from_name = null, reply_to = null, ...given }: ProviderInput): NewProvider => {
  const { username = null, password = null, ...rest } = given;
  const login = given.provider === 'smtp' ? { username, password } : {};
  return { ...rest, ...login, from_name, reply_to } as NewProvider;
};

/** One page of the project's providers, the newest first. */
export const pageProviders = async (scope: Scope, query: PageQuery) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null;
  const rows = await listProviders(scope, { limit: query.limit + 1, beforeId });
  const page = toPage(rows, query.limit, {
    item: (row) => row,
    position: ({ provider_id }) => [provider_id],
  });
  const items = [];
  for (const row of page.items) items.push(await showProvider(scope, row));
  return { ...page, items };
};

export const addProvider = async (where: Where, providerId: string, given: ProviderInput) =>
  show(where, await createProvider(where.deps, where.projectId, providerId, toNew(given)));

/** A change of a record; whatever waits for the provider as it was is looked at anew. */
export const editProvider = async (
  where: Where,
  row: ProviderRow,
  change: ProviderChange,
  releaseRamped: ReleaseRamped,
) => {
  const changed = await changeProvider(where.deps, where.projectId, row, change);
  if (change.ramp !== undefined) await releaseRamped(where.deps, where.projectId, row.provider_id);
  await wakeSends(where, row.provider_id);
  return show(where, changed);
};

export const removeProvider = async (where: Where, id: string) => {
  const gone = await inProject(where.deps, where.projectId, async (scope) => {
    const deleted = await deleteProvider(scope, id);
    if (deleted) await resolveSubject(scope, id);
    return deleted;
  });
  if (!gone) throw new Refusal('not_found');
  await wakeSends(where, id);
  return { id, deleted: true as const };
};

export const sendTest = async (where: Where, row: ProviderRow, test: Test) => {
  const tested = await testProvider(where.deps, where.projectId, row, test);
  await wakeSends(where, row.provider_id);
  return {
    ok: true as const,
    provider_message_id: tested.providerMessageId,
    took_ms: tested.tookMs,
  };
};

type TestMail = { providerId: string; to: string; mail: ProbeMail; isStopped: IsStopped };

/** Sends one mail as it is, to one address, through a provider of the project. */
export const sendTestMail = async (
  where: Where,
  { providerId, ...test }: TestMail,
): ReturnType<typeof sendTest> => {
  const row = await inProject(where.deps, where.projectId, (scope) =>
    findProvider(scope, providerId),
  );
  if (!row)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/providerId', message: 'there is no such provider' }],
    });
  return sendTest(where, row, { ...test, testId: newId() });
};
