// A world that a run walks in without a database: somebody's past, a clock, and what was done.
import { isMeant } from '../../src/automations/event_match.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { Definition } from '../../src/automations/schema.ts';
import { walk } from '../../src/automations/walk.ts';
import type { CallView, Change, EventView, PersonView, Run } from '../../src/automations/world.ts';
import type { Limits, Mailed, OfRecipient } from '../../src/delivery/delivery.ts';
import { newId } from '../../src/base/ids.ts';

export const BEGAN = new Date('2026-06-01T12:00:00Z');

export const happened = (
  name: string,
  at: string | Date = BEGAN,
  properties: EventView['properties'] = {},
): EventView => ({
  event_id: newId(),
  name,
  properties,
  occurred_at: new Date(at),
  source: 'server',
});

type Given = {
  person?: Partial<PersonView> | null;
  trigger?: EventView | null;
  events?: EventView[];
  sends?: { step_id: string; facts: string[] }[];
  sentAt?: string[];
  /** What the address was sent that only a browser has said; a server has said it if left out. */
  sentByOther?: { runId: string; sendId: string };
  armOf?: string;
  mailedUnconfirmed?: Mailed;
  /** Who caused the run; a server, if it is left out. */
  source?: 'server' | 'browser' | 'system' | null;
  ofRecipient?: OfRecipient;
  entries?: number;
  mayCall?: boolean;
  /** Which conditions in the language of segments hold, by their kind. */
  holding?: string[];
  /** When the person came into which segment. */
  entered?: { segmentId: string; at: string }[];
};

const newCall = (): CallView => ({
  callId: newId(),
  status: 'queued',
  retryAt: null,
  httpStatus: null,
  reason: null,
});

const ANN: PersonView = { profileId: newId(), email: 'ann@example.com', traits: {}, tags: [] };

/** One run of a definition, walked as often as a test likes. */
export const runOf = (definition: NewDefinition, given: Given = {}) => {
  const parsed = Definition.parse(definition);
  const trigger = given.trigger ?? happened('user_signed_up');
  const done = {
    sent: [] as string[],
    limits: [] as (Limits | null)[],
    called: [] as string[],
    call: null as CallView | null,
    changes: [] as Change[],
    skipped: [] as { stepId: string; reason: string }[],
  };
  const person = given.person === null ? null : { ...ANN, ...given.person };
  let run: Run = {
    run_id: newId(),
    automation_id: newId(),
    version: 1,
    identity_id: newId(),
    definition: parsed,
    step_id: parsed.entry,
    until: null,
    trigger_event_id: trigger.event_id,
    trigger_event_at: trigger.occurred_at,
    trigger_entry: null,
    source: given.source === undefined ? 'server' : given.source,
    started_at: BEGAN,
    may_call: given.mayCall ?? true,
    is_test: false,
    entries: given.entries ?? 0,
  };
  const decisions: string[] = [];
  /** Walks on at a moment; answers where the run stands then. */
  const walkAt = async (text: string | Date, dueAt: string | Date = text) => {
    const now = new Date(text);
    const { log, stand } = await walk(run, {
      now,
      dueAt: new Date(dueAt),
      reader: {
        person: () => Promise.resolve(person),
        triggerEvent: () => Promise.resolve(trigger),
        firstEvent: (match, until) =>
          Promise.resolve(
            (given.events ?? []).find(
              (event) =>
                event.name === match.event &&
                event.occurred_at > trigger.occurred_at &&
                event.occurred_at <= until &&
                isMeant(match, event),
            ) ?? null,
          ),
        entered: (segmentId, until) => {
          const found = (given.entered ?? [])
            .map((one, at) => ({ ...one, at: new Date(one.at), entry: at + 1 }))
            .find((one) => one.segmentId === segmentId && one.at > BEGAN && one.at <= until);
          return Promise.resolve(found ?? null);
        },
        holds: ({ kind }) => Promise.resolve((given.holding ?? []).includes(kind)),
        call: () => Promise.resolve(done.call),
        sends: () => Promise.resolve(given.sends ?? []),
        sentByOther: () => Promise.resolve(given.sentByOther ?? null),
        armOf: () => Promise.resolve(given.armOf ?? person?.profileId ?? ''),
        ofRecipient: () => Promise.resolve(given.ofRecipient ?? { sent: 0, max: 3 }),
        mailedUnconfirmed: () => Promise.resolve(given.mailedUnconfirmed ?? null),
        sentSince: (since) =>
          Promise.resolve(
            (given.sentAt ?? []).map((at) => new Date(at)).filter((at) => at > since),
          ),
      },
      effects: {
        send: ({ stepId, limits }) => {
          done.sent.push(stepId);
          done.limits.push(limits);
          return Promise.resolve({ sendId: newId(), status: 'queued' });
        },
        call: ({ stepId }) => {
          done.called.push(stepId);
          done.call = { ...newCall(), ...done.call, status: 'queued' };
          return Promise.resolve({ callId: done.call.callId });
        },
        skip: (stepId, reason) => {
          done.skipped.push({ stepId, reason });
          return Promise.resolve();
        },
        changeTraits: (change) => {
          done.changes.push(change);
          return Promise.resolve(true);
        },
      },
    });
    decisions.push(...log.map(({ decision }) => decision));
    run = { ...run, entries: run.entries + log.length };
    if (stand.kind === 'ended') return stand.outcome;
    run = { ...run, step_id: stand.stepId, until: stand.until };
    return stand.until.toISOString().replace('.000Z', 'Z');
  };
  return { walkAt, decisions, done, person, automationId: run.automation_id };
};
