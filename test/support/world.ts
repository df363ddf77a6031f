import { afterAll, beforeAll } from 'vitest';
import type { NewProject } from '../../src/projects/projects.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { EXAMPLE_EVENT, keepExample } from '../../src/runtime/example.ts';
import { startService } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { testDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { smtpSink } from './smtp_sink.ts';
import type { SmtpSink } from './smtp_sink.ts';

/** The whole service as processes of its own, over a private database and a scripted relay. */
export type World = TestDatabase & {
  project: NewProject;
  sink: SmtpSink;
  /** Starts a process; it is ended with the test file, if it still lives. */
  start: (role: 'api' | 'worker' | 'all', env?: Record<string, string>) => Promise<Service>;
  /** Stores sign-up events of people, one each, as if a server had posted them. */
  signUp: (...people: string[]) => Promise<void>;
  /** The sends to a person, oldest first. */
  sendsTo: (person: string) => Promise<SendState[]>;
};

export type SendState = { send_id: string; status: string; status_reason: string | null };

export const addressOf = (person: string): string => `${person}@people.test`;

export const signUpOf = (person: string) => ({
  event: EXAMPLE_EVENT,
  external_id: person,
  properties: { email: addressOf(person), first_name: person },
});

/** A start takes a core for a second: with more at a time each would be ready later, on a busy machine too late. */
const STARTING_MAX = 2;
const waiting: (() => void)[] = [];
let starting = 0;

const startInTurn: typeof startService = async (options) => {
  while (starting >= STARTING_MAX) await new Promise<void>((resolve) => void waiting.push(resolve));
  starting += 1;
  try {
    return await startService(options);
  } finally {
    starting -= 1;
    waiting.shift()?.();
  }
};

export const testWorld = (): World => {
  const world = testDatabase() as World;
  const sink = smtpSink();
  const services: Service[] = [];

  beforeAll(async () => {
    world.sink = sink;
    world.project = await keepExample(world.deps, null, {
      display_name: 'Sink',
      from_email: 'hello@shop.test',
      from_name: 'Shop',
      reply_to: null,
      ...sink.settings,
    });
  });
  afterAll(async () => {
    for (const service of services) await service.stop('SIGKILL');
  });

  world.start = async (role, env = {}) => {
    const service = await startInTurn({
      env: { ...world.env, ROLE: role, NODE_EXTRA_CA_CERTS: sink.caFile, ...env },
    });
    services.push(service);
    return service;
  };
  world.signUp = async (...people) => {
    const caller = { projectId: world.project.project_id, kind: 'server' } as const;
    await accept(world.deps, caller, { events: people.map(signUpOf) });
  };
  world.sendsTo = async (person) => {
    const { rows } = await world.owner.query<SendState>(
      'select send_id, status, status_reason from delivery.sends where recipient = $1 order by send_id',
      [addressOf(person)],
    );
    return rows;
  };
  return world;
};
