import type pg from 'pg';
import type { Journal } from './journal.ts';
import type { Seen } from './relays.ts';
import type { Timeline } from './timelines.ts';

/** How a send stood at one look. */
export type Stand = {
  status: string;
  attempt_count: number;
  /** Which facts of feedback it had. */
  facts: string[];
};

/** What was seen while a run was going on, to be compared with what is there after it. */
export type Samples = {
  /** A digest of every row of the timeline by project and event, when it was first seen. */
  events: Map<string, string>;
  /** How a send stood each time that it stood otherwise than before. */
  sends: Map<string, Stand[]>;
  /** Payloads of jobs. */
  payloads: Set<string>;
  /** The most that each process ever held in memory. */
  residentMiB: Map<string, number>;
  /** The most that each queue of each process ever held, and what it may hold: by `process queue`. */
  queues: Map<string, { most: number; max: number }>;
};

/** All that the invariants are judged by. */
export type Evidence = {
  client: pg.Client;
  journal: Journal;
  samples: Samples;
  /** Whole messages that providers got. */
  seen: Seen[];
  /** Those of all hand-offs until then are among them; what was only put off may begin while a run is judged. */
  seenUntil: Date;
  /** What the API shows of people who were linked, when all is idle. */
  timelines: Timeline[];
  /** What an address is called in tables once nobody may read it. */
  addressKey: (projectId: string, email: string) => Buffer;
  secrets: Record<string, string>;
  /** Where secrets were read in logs. */
  leaks: string[];
};

/** One of §2 of the design: finds what breaks it, in words; nothing where it holds. */
export type Invariant = {
  id: string;
  text: string;
  find: (evidence: Evidence) => Promise<string[]>;
};

export const noSamples = (): Samples => ({
  events: new Map(),
  sends: new Map(),
  payloads: new Set(),
  residentMiB: new Map(),
  queues: new Map(),
});

/** The rows of a query that should find none, each in words. */
export const findRows = async (
  { client }: Pick<Evidence, 'client'>,
  query: string,
  values: readonly unknown[] = [],
): Promise<string[]> => {
  const { rows } = await client.query<Record<string, unknown>>(query, [...values]);
  return rows.map((row) => JSON.stringify(row));
};
