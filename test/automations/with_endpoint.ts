// Automations whose steps tell an endpoint, and what a worker does for its calls.
import { beforeEach } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { callNext } from '../../src/automations/call.ts';
import { createEndpoint } from '../../src/automations/endpoints.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { openCredential, sealCredential } from '../../src/providers/providers.ts';
import type { TestDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import { withSegments, note } from './with_segments.ts';

const NOT_TOLD = { not_told: { kind: 'exit' as const, reason: 'not_told' } };
export const vault = { seal: sealCredential, open: openCredential };

export const withEndpoint = async (database: TestDatabase, sink: HttpsSink, path = '/hooks') => {
  const world = withSegments(database);
  const { projectId, settle } = world;
  const endpointId = newId();
  await inProject(database.deps, projectId, (scope) =>
    createEndpoint(scope, vault, { endpointId, name: 'CRM', url: sink.url + path }),
  );
  /** Makes the next call, walks on, and answers whether there was one. */
  const call = async (): Promise<boolean> => {
    const asked = { projectId, endpointId, open: new Set<never>() };
    const isMade = await callNext(database.deps, vault, asked);
    await settle();
    return isMade;
  };
  const telling = (
    given: object = {},
    trigger: NewDefinition['trigger'] = { kind: 'event', event: 'trial_started' },
  ): NewDefinition => ({
    trigger,
    settings: { re_entry: 'every_time' },
    entry: 'tell',
    steps: {
      tell: {
        kind: 'webhook',
        endpoint_id: endpointId,
        next: 'told',
        on_failure: 'not_told',
        ...given,
      },
      told: note(),
      ...('on_failure' in given ? {} : NOT_TOLD),
    },
  });
  const live = (...given: Parameters<typeof telling>): Promise<string> =>
    inProject(database.deps, projectId, (scope) =>
      automations.createActive(scope, 'Telling', telling(...given)),
    );
  const calls = () => world.select('status, attempts, http_status, reason', 'automations.calls');
  /** Lets the call that waits for its next time have it. */
  const passRetry = async (): Promise<void> => {
    await database.owner.query(
      `update automations.calls set retry_at = now() - interval '1 s' where project_id = $1 and status = 'waiting'`,
      [projectId],
    );
    await database.owner.query(
      `update automations.runs set wake_at = now() - interval '1 s' where project_id = $1 and status = 'active'`,
      [projectId],
    );
    await settle();
  };
  return { ...world, endpointId, call, live, telling, calls, passRetry };
};

/** A world with an endpoint, made anew before each test, and the server behind the endpoint, which takes all calls. */
export const endpointWorlds = (database: TestDatabase) => {
  const sink = httpsSink({ usually: () => ({ status: 204 }) });
  const world = {} as Awaited<ReturnType<typeof withEndpoint>>;
  beforeEach(async () => {
    sink.reset();
    Object.assign(world, await withEndpoint(database, sink));
  });
  return { sink, world };
};
