import type { z } from 'zod';
import type { Limits, Mailed, OfRecipient } from '../delivery/delivery.ts';
import type { Definition } from './schema.ts';
import type { Condition } from '../segments/segments.ts';
import type { EventMatch } from './condition_schema.ts';
import type { Step, StepOf } from './step_schema.ts';

/** One person's way through an automation, as it stands. */
export type Run = {
  run_id: string;
  automation_id: string;
  version: number;
  identity_id: string;
  definition: Definition;
  step_id: string;
  /** Until when it waits at its step; null when it has just come there. */
  until: Date | null;
  /** Null of a run that no event started. */
  trigger_event_id: string | null;
  trigger_event_at: Date | null;
  /** Of a run that began when its person came into a segment, or went: the entry of the history. */
  trigger_entry: number | null;
  /** Who caused it; null where that is not known. */
  source: 'server' | 'browser' | 'system' | null;
  started_at: Date;
  /** Whether steps may tell anybody outside: a test does only where it was asked to. */
  may_call: boolean;
  /** Whether somebody tries it now: what it waits for is what comes from then on. */
  is_test: boolean;
  /** How much was decided in it before. */
  entries: number;
};

export type EventView = {
  event_id: string;
  name: string;
  properties: Readonly<Record<string, string | number | boolean>>;
  occurred_at: Date;
  source: 'browser' | 'server' | 'system';
  /** Which browser sent it, where that is known. */
  anonymous_id?: string | null;
};
export type PersonView = {
  profileId: string;
  email: string | null;
  traits: Readonly<Record<string, z.core.util.JSONType>>;
  tags: readonly string[];
};
/** What has become of the call of a step. */
export type CallView = {
  callId: string;
  status: 'queued' | 'calling' | 'waiting' | 'delivered' | 'failed';
  /** When it is to be tried again, of one that waits. */
  retryAt: Date | null;
  httpStatus: number | null;
  reason: string | null;
};
export type OwnSend = { step_id: string; facts: readonly string[] };

/** What steps may ask. All answers are as of the clock's time. */
export type Reader = {
  /** Null when there is nobody any more. */
  person: () => Promise<PersonView | null>;
  triggerEvent: () => Promise<EventView | null>;
  /** The first event of the person's that matches, after the run began and not after `until`. */
  firstEvent: (match: EventMatch, until: Date) => Promise<EventView | null>;
  /** When the person first came into a segment, after the run began and not after `until`. */
  entered: (segmentId: string, until: Date) => Promise<{ entry: number; at: Date } | null>;
  /** Whether a condition of the language of segments holds for the person. */
  holds: (where: Where) => Promise<boolean>;
  /** The call of a step of this run, if there is one. */
  call: (stepId: string) => Promise<CallView | null>;
  /** What this run has sent, and what became of it. */
  sends: () => Promise<readonly OwnSend[]>;
  /** The email of a step that another run of the person sent in the place of this one; null where none did. */
  sentByOther: (stepId: string, to: string) => Promise<{ runId: string; sendId: string } | null>;
  /** The profile by which the arm of a split is chosen: the same for all runs of a person. */
  armOf: (stepId: string) => Promise<string>;
  /** What an address was sent that only a browser has said to be the person's; null where a server has. */
  mailedUnconfirmed: (email: string) => Promise<Mailed | null>;
  /** How many emails the recipient was to get in 24 hours of runs that no server started, and how many they may. */
  ofRecipient: (email: string) => Promise<OfRecipient>;
  /**
   * When the person was sent mails after a moment, by this automation or by all, oldest first. A run that a server
   * started does not count browser-triggered ones.
   */
  sentSince: (since: Date, of: 'automation' | 'project') => Promise<readonly Date[]>;
};

type Where = Condition;
export type Traits = Readonly<Record<string, z.core.util.JSONType>>;
export type Change = {
  traits: Traits;
  setAt: Date;
  authority: 'publishable' | 'server';
  /** Which browser asserted it, where that is known. */
  anonymousId?: string | null | undefined;
};
export type Sent = { sendId: string; status: string };
export type Message = {
  stepId: string;
  step: StepOf<'send_email'>;
  to: string;
  /** What is asked again when it is handed over. */
  limits: Limits | null;
};

/** What steps may do. */
export type Effects = {
  send: (message: Message) => Promise<Sent>;
  /** False when the person has as many traits as one may, and was told nothing. */
  changeTraits: (change: Change) => Promise<boolean>;
  /** Has an endpoint told, or told again; answers under which id. */
  call: (asked: { stepId: string; step: StepOf<'webhook'> }) => Promise<{ callId: string }>;
  /** Tells the person's timeline why a mail was not even planned. */
  skip: (stepId: string, reason: string) => Promise<void>;
};

/** Everything that a step is a function of. */
export type Walk = {
  run: Run;
  stepId: string;
  now: Date;
  /** Since when it is to be walked. */
  dueAt: Date;
  person: PersonView;
  /** On whose wall the person's clock hangs. */
  zone: string;
  reader: Reader;
  effects: Effects;
};

/** Why a run ended. */
export const OUTCOMES = [
  'completed',
  'exited',
  'converted',
  'unsubscribed',
  'held_out',
  'merged',
  'expired',
  'erased',
  'archived',
  'went_in_circles',
  'step_missing',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a step decided, for the run's log. */
export type Detail = Record<string, string>;
type Said = { decision: string; detail?: Detail };

/** What comes of a step: the next one, a wait at this one, or the end. */
export type Taken =
  | (Said & { kind: 'goes_on'; next: string | null })
  /** Without a decision: it waits on, and that is no news. */
  | (Partial<Said> & {
      kind: 'waits';
      until: Date;
      for?: EventMatch;
      /** A change of one of these traits moves `until`. */
      follows?: readonly string[];
    })
  | (Said & { kind: 'leaves'; outcome: Outcome });

/** What one kind of step does. */
export type Take<Kind extends Step['kind']> = (
  walk: Walk,
  step: StepOf<Kind>,
) => Promise<Taken> | Taken;
