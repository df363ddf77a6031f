import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { newId } from '../../base/ids.ts';
import { nameServersOf } from '../../base/resolve_host.ts';
import { withMailbox } from './imap.ts';
import type { ImapTimeouts, MailboxSettings } from './imap.ts';
import { alertMailbox } from './alert_owner.ts';
import { claimMailbox, readNow, releaseMailbox } from './queries.ts';
import type { MailboxRow } from './queries.ts';
import { openMailboxSettings } from './records.ts';
import { beginProgress, readTurn, stateAfter } from './turn.ts';
import type { Progress, TakeMessage, TurnResult } from './turn.ts';

/** Longer than any turn: after so long a mailbox of a process that died is due again. */
export const LEASE_SECONDS = 180;

export type WhichMailbox = { projectId: string; providerId: string };

type Claimed = { row: MailboxRow; settings: MailboxSettings; claimId: string };

const claim = (deps: Deps, { projectId, providerId }: WhichMailbox): Promise<Claimed | null> =>
  inProject(deps, projectId, async (scope) => {
    const claimId = newId();
    const until = new Date((await readNow(scope)).getTime() + LEASE_SECONDS * 1_000);
    const row = await claimMailbox(scope, { providerId, claimId, until });
    return row && { row, settings: await openMailboxSettings(scope, row), claimId };
  });

/** What to do with messages, and when to stop. */
type Reading = { take: TakeMessage; timeouts?: ImapTimeouts; signal?: AbortSignal };

const read = async (
  deps: Deps,
  { row, settings }: Claimed,
  { take, timeouts, signal, progress }: Reading & { progress: Progress },
): Promise<TurnResult> => {
  const way = {
    allowNetworks: deps.config.egressAllowNetworks,
    nameServers: nameServersOf(deps),
    ...(timeouts === undefined ? {} : { imapTimeouts: timeouts }),
    ...(signal === undefined ? {} : { signal }),
  };
  const outcome = await withMailbox(settings, way, (session) =>
    readTurn(session, row, { progress, take }),
  );
  return outcome.kind === 'done' ? { kind: 'read' } : outcome;
};

/** What one turn did; null where the mailbox was not due. */
export type Turn = { result: TurnResult; readCount: number; usedCount: number } | null;

/**
 * Reads one mailbox for one turn, if it is due and no other process reads it. Writes how far it came, also after a
 * failure. Safe to repeat: what `take` does for a message that was read before has no effect.
 */
export const readMailbox = async (
  deps: Deps,
  which: WhichMailbox,
  reading: Reading,
): Promise<Turn> => {
  const claimed = await claim(deps, which);
  if (!claimed) return null;
  const progress = beginProgress(claimed.row);
  const release = (result: TurnResult) =>
    inProject(deps, which.projectId, async (scope) => {
      const state = stateAfter(claimed.row, { progress, result, now: await readNow(scope) });
      const ours = { ...which, claimId: claimed.claimId };
      const isWritten = await releaseMailbox(scope, ours, state);
      const saysSomething = result.kind === 'read' || result.kind === 'failed';
      if (isWritten && saysSomething) await alertMailbox(scope, which.providerId, state);
    });
  const end = async (result: TurnResult): Promise<Turn> => {
    await release(result);
    return { result, readCount: progress.readCount, usedCount: progress.usedCount };
  };
  try {
    return await end(await read(deps, claimed, { ...reading, progress }));
  } catch (error) {
    if (reading.signal?.aborted) return end({ kind: 'stopped' });
    await release({ kind: 'interrupted' });
    throw error;
  }
};
