import type { z } from 'zod';
import type { Scope } from '../base/db.ts';
import type { AccountAnswer } from './account_answer.ts';
import { findMailbox, toBounceMailbox } from './bounce_mailbox/bounce_mailbox.ts';
import type { MailboxRow } from './bounce_mailbox/bounce_mailbox.ts';
import { explanations, isExplained, toFailure, toParked } from './failures.ts';
import { findState } from './pace_state.ts';
import type { PaceState } from './pace_state.ts';
import { UNPACED } from './pace_schema.ts';
import type { PACE_SHOWN } from './pace_schema.ts';
import { planOf } from './records.ts';
import type { ProviderRow } from './queries.ts';
import { MASK } from './schema.ts';
import type { Provider } from './schema.ts';

const lastTestOf = ({ tested_at, test_failure }: ProviderRow) =>
  tested_at && {
    at: tested_at.toISOString(),
    ok: test_failure === null,
    failure: test_failure !== null && isExplained(test_failure) ? toFailure(test_failure) : null,
  };

/** The members of the record's kind; of a secret only that it is there. */
const settingsOf = (row: ProviderRow, mailbox: MailboxRow | null) => {
  const { smtp_host, smtp_port, smtp_secure, username, region, access_key_id } = row;
  switch (row.provider) {
    case 'smtp':
      return {
        smtp_host,
        smtp_port,
        smtp_secure,
        ...(username === null ? {} : { username, password: MASK }),
        bounce_mailbox: mailbox && toBounceMailbox(mailbox),
      };
    case 'relay_api':
      return { api_key: MASK };
    case 'cloud_api':
      return { region, access_key_id, secret_access_key: MASK };
  }
};

type Paused = { said: string; answer: AccountAnswer | null; until: Date | null };

const toPaused = ({ said, answer, until }: Paused) => {
  const reason = isExplained(said) ? said : 'provider_unavailable';
  const { cause, fix } = explanations[reason];
  return { reason, cause, fix, answer, until: until?.toISOString() ?? null };
};

/** A hold of the account, or a throttling; a hold that a probe tests just now has no end. */
const pausedOf = ({ heldReason, heldAnswer: answer, openUntil, pause }: PaceState) => {
  if (heldReason !== null) return toPaused({ said: heldReason, answer, until: openUntil });
  return pause && toPaused({ said: 'throttled', answer: null, until: new Date(pause.until) });
};

const toPace = (state: PaceState | null): z.output<typeof PACE_SHOWN> =>
  state
    ? {
        circuit: state.circuit,
        open_until: state.openUntil?.toISOString() ?? null,
        paused: pausedOf(state),
        rate_per_second: state.rate,
        is_rate_learned: state.isLearned,
        ramp_today: state.rampToday,
      }
    : UNPACED;

type About = { state: PaceState | null; mailbox: MailboxRow | null };

const toProvider = (row: ProviderRow, { state, mailbox }: About): z.output<typeof Provider> => {
  const shown = {
    id: row.provider_id,
    provider: row.provider,
    display_name: row.display_name,
    from_email: row.from_email,
    from_name: row.from_name,
    reply_to: row.reply_to,
    ...settingsOf(row, mailbox),
    ...planOf(row),
    status: row.status,
    parked: row.parked_reason && { ...toParked(row.parked_reason), answer: row.parked_answer },
    pace: toPace(state),
    last_test: lastTestOf(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
  return shown as z.output<typeof Provider>;
};

/** A provider as the API shows it: everything but its secret, and how it is used just now. */
export const showProvider = async (
  scope: Scope,
  row: ProviderRow,
): Promise<z.output<typeof Provider>> => {
  const { provider_id: id, provider } = row;
  const mailbox = provider === 'smtp' ? await findMailbox(scope, id) : null;
  return toProvider(row, { state: await findState(scope, id), mailbox });
};
