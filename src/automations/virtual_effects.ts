import { mailboxOf } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import type { Past, Virtual } from './virtual.ts';
import type { Effects, PersonView, Run } from './world.ts';

/** Tags of a profile that stop email to its address. */
const STOPPING = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
];

const statusFor = (tags: PersonView['tags'], category: string): string => {
  if (tags.some((tag) => STOPPING.includes(tag))) return 'suppressed';
  return category === 'marketing' && tags.includes('unsubscribed') ? 'unsubscribed' : 'queued';
};

/** What becomes of an email: other spellings of its mailbox stop it where no server started the run. */
const planAt = async (run: Run, to: string, { family, clock, spellings }: Past) => {
  const { category } = run.definition.settings;
  const tags = (await family.viewAt(run, clock.now))?.tags ?? [];
  const own = statusFor(tags, category);
  await spellings.readAhead([to]);
  const stop =
    own === 'queued' && run.source !== 'server' ? spellings.stopAt(to, clock.now, category) : null;
  spellings.add(to, clock.now);
  return stop ?? own;
};

/** Wakes the other runs of the person that wait for a date which a change of traits may have moved. */
const wakeFollowing = (
  { run: own }: Virtual,
  { runs, family, clock: { now } }: Past,
  traits: object,
): void => {
  const profileId = family.personAt(own, now)?.profileId;
  for (const other of runs) {
    const isMoved = other.follows.some((trait) => Object.hasOwn(traits, trait));
    if (other.run === own || other.wakeAt === null || !isMoved) continue;
    if (family.personAt(other.run, now)?.profileId === profileId) other.wakeAt = now;
  }
};

/** Gives the steps of a run of the past what they may do: it is noted, and nothing leaves. */
export const openEffects = (virtual: Virtual, past: Past): Effects => {
  const { run, sent, called } = virtual;
  return {
    send: async ({ stepId, to }) => {
      const { family, clock, sentTo } = past;
      const status = await planAt(run, to, past);
      const isTaken = status === 'queued';
      const sendId = newId();
      sent.push({ stepId, at: clock.now, isTaken, sendId, to });
      if (isTaken) {
        const isBrowserTriggered = run.source !== 'server';
        family.planned.push({ identityId: run.identity_id, at: clock.now, isBrowserTriggered });
        const mailbox = mailboxOf(to);
        const email = { at: clock.now, isBrowserTriggered };
        sentTo.set(mailbox, [...(sentTo.get(mailbox) ?? []), email]);
      }
      return { sendId, status };
    },
    skip: () => Promise.resolve(),
    // As if the endpoint took it at once.
    call: ({ stepId }) => {
      const callId = newId();
      called.set(stepId, {
        callId,
        status: 'delivered',
        retryAt: null,
        httpStatus: 200,
        reason: null,
      });
      return Promise.resolve({ callId });
    },
    changeTraits: ({ traits, setAt: set_at, authority }) => {
      const told = {
        identityId: run.identity_id,
        traits,
        set_at,
        authority,
        toldAt: past.clock.now,
      };
      past.family.people.imagine(told);
      wakeFollowing(virtual, past, traits);
      return Promise.resolve(true);
    },
  };
};
