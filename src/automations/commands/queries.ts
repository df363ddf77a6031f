import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';

/** The commands of an automation that stays, whose effect on runs and sends is written in pieces. */
export const SHOWN_COMMAND_KINDS = ['resume', 'archive', 'move'] as const;
/** All commands that are written in pieces. */
export const COMMAND_KINDS = [...SHOWN_COMMAND_KINDS, 'delete'] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

const Command = z.strictObject({
  automation_id: z.uuid(),
  kind: z.enum(COMMAND_KINDS),
  /** The version that a move is to; null of other commands. */
  to_version: z.int().nullable(),
  requested_at: z.date(),
  /** How many rows have been written so far. */
  changed: z.int(),
});
export type Command = z.output<typeof Command>;

const columns = sql.fragment`automation_id, kind, to_version, requested_at, changed`;

/**
 * Begins a command. The same command again begins anew. Its time is rounded as the starts of runs are: a move concerns
 * a run that started before it in the same millisecond.
 */
export const insertCommand = (
  { tx, projectId }: Scope,
  automationId: string,
  { kind, toVersion = null }: { kind: CommandKind; toVersion?: number | null },
) =>
  tx.query(sql.unsafe`
    insert into automations.commands (project_id, automation_id, kind, to_version, requested_at, changed)
    values (${projectId}, ${automationId}, ${kind}, ${toVersion}, statement_timestamp(), 0)
    on conflict on constraint commands_pkey do update
    set to_version = excluded.to_version, requested_at = excluded.requested_at, changed = 0
  `);

/** Ends commands: they are done, or another command replaces them. */
export const deleteCommands = (
  { tx, projectId }: Scope,
  automationId: string,
  kinds: readonly CommandKind[],
) =>
  tx.query(sql.unsafe`
    delete from automations.commands
    where project_id = ${projectId} and automation_id = ${automationId}
    and kind = any (${sql.array([...kinds], 'text')})
  `);

/** A deletion replaces all other commands: their rows go with that of the automation. */
const isInForce = (projectId: string, automationId: string) => sql.fragment`(
  kind = 'delete' or not exists (
    select from automations.commands as deletion
    where deletion.project_id = ${projectId} and deletion.automation_id = ${automationId}
    and deletion.kind = 'delete'
  )
)`;

/** Reads a command and locks it until the transaction ends; null where it is done or replaced. */
export const holdCommand = ({ tx, projectId }: Scope, automationId: string, kind: CommandKind) =>
  tx.maybeOne(sql.type(Command)`
    select ${columns} from automations.commands
    where project_id = ${projectId} and automation_id = ${automationId} and kind = ${kind}
    and ${isInForce(projectId, automationId)}
    for update
  `);

export const countChanged = (
  { tx, projectId }: Scope,
  automationId: string,
  { kind, changed }: { kind: CommandKind; changed: number },
) =>
  tx.query(sql.unsafe`
    update automations.commands set changed = changed + ${changed}
    where project_id = ${projectId} and automation_id = ${automationId} and kind = ${kind}
  `);

/** Lists the commands of an automation that are neither done nor replaced. */
export const listCommands = ({ tx, projectId }: Scope, automationId: string) =>
  tx.any(sql.type(Command)`
    select ${columns} from automations.commands
    where project_id = ${projectId} and automation_id = ${automationId} and ${isInForce(projectId, automationId)}
    order by requested_at, kind
  `);
