import { z } from 'zod';
import type { ReadSend } from '../delivery/delivery.ts';
import { DECISIONS, saysOf } from './decisions.ts';

const Timestamp = z.iso.datetime();
const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

/** What is decided about a mail once it is planned, besides what its run decided and where it stands. */
const OF_DELIVERY = {
  waits_for_another: {
    stops: false,
    says: 'Another mail to this address, which only a browser has said, is under way: it waits for what becomes of it.',
  },
  rendered: { stops: false, says: 'The template was rendered for this person.' },
  handed_to_provider: { stops: false, says: 'It was handed to the provider.' },
  attempt_accepted: { stops: false, says: 'The provider took it.' },
  attempt_deferred: { stops: false, says: 'The provider did not take it for now.' },
  attempt_rejected: { stops: false, says: 'The provider refused it for good.' },
  attempt_unknown: { stops: false, says: 'The provider may have taken it: nobody knows.' },
  found_not_taken: {
    stops: false,
    says: 'Somebody found that it was not taken, and had the mail sent again.',
  },
  attempt_not_started: { stops: false, says: 'It was not begun in time: nothing was sent.' },
} as const;

export const SEND_DECISIONS = { ...DECISIONS, ...OF_DELIVERY };
export type SendDecided = keyof typeof SEND_DECISIONS;

export const isSendDecided = (name: string): name is SendDecided =>
  Object.hasOwn(SEND_DECISIONS, name);

const NAMES = Object.keys(SEND_DECISIONS) as [SendDecided, ...SendDecided[]];

const SendEntry = z.strictObject({
  decision: z.enum(NAMES),
  says: z.string(),
  at: Timestamp.nullable().meta({ description: 'When it was decided; null of what is so now.' }),
  step_id: z.string().nullable(),
  detail: z.record(z.string(), z.string()),
});
export type SendEntry = z.output<typeof SendEntry>;

const QUEUED_SHOWN: SendEntry = {
  decision: 'send_queued',
  says: DECISIONS.send_queued.says,
  at: '2026-01-31T12:00:00.300Z',
  step_id: 'welcome',
  detail: { category: 'marketing', expires_at: '2026-02-03T12:00:00.300Z' },
};

/** Every decision behind one mail, in order. */
export const SendExplanation = z
  .strictObject({
    send_id: z.uuid(),
    automation_id: z.uuid().nullable(),
    run_id: z.uuid().nullable(),
    profile_id: z.uuid(),
    decisions: z.array(SendEntry),
    stopped_by: SendEntry.nullable().meta({
      description: 'The first that stops, or stopped, this mail; null when nothing does.',
    }),
  })
  .meta({
    id: 'SendExplanation',
    examples: [
      {
        send_id: ID,
        automation_id: ID,
        run_id: ID,
        profile_id: ID,
        decisions: [QUEUED_SHOWN],
        stopped_by: null,
      },
    ],
  });

type Given = { at?: string | null; stepId?: string | null; detail?: Record<string, string | null> };

/** One line; what there is nothing to say of is left out. */
export const toSendEntry = (
  decision: SendDecided,
  { at, stepId, detail }: Given = {},
): SendEntry => ({
  decision,
  says: saysOf(SEND_DECISIONS[decision], detail?.['reason']),
  at: at ?? null,
  step_id: stepId ?? null,
  detail: Object.fromEntries(
    Object.entries(detail ?? {}).filter((one): one is [string, string] => one[1] !== null),
  ),
});

/** What a provider makes a mail wait for; what a mail waits for by itself is known by its reason. */
const HOLDS = {
  provider_parked: 'provider_parked',
  circuit_open: 'waits_for_circuit',
  provider_paused: 'waits_for_pause',
  identical_refusals: 'waits_for_refusals',
  ramp: 'waits_for_ramp',
  rate: 'waits_for_rate',
  provider_silent: 'waits_for_answers',
} as const;
type Because = NonNullable<ReadSend['waits_for']>['because'];
const isHeld = (because: Because): because is keyof typeof HOLDS & Because =>
  Object.hasOwn(HOLDS, because);

/** For what its provider makes a mail wait, by why delivery says so; null where that is not its provider. */
export const heldAs = (because: Because) => (isHeld(because) ? HOLDS[because] : null);

export const stopsSend = ({ decision }: SendEntry): boolean => SEND_DECISIONS[decision].stops;
