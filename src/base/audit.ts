import type { DatabaseTransactionConnection } from 'slonik';
import { sql } from 'slonik';
import { newId } from './ids.ts';

/** Who changed something: a person of the Console, a key of a project, whoever runs `make`, or the service itself. */
export const ACTOR_KINDS = ['person', 'key', 'operator', 'service'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];
export type Actor = { kind: ActorKind; id: string | null };

/** One call that may change something, as the audit log tells of it. Its id makes many transactions one entry. */
export type Audit = {
  auditId: string;
  actor: Actor;
  /** The path of a procedure, method and path of an endpoint, or the command of an operator. */
  action: string;
  /** What it was about, by name. */
  targets: Readonly<Record<string, string>>;
  requestId: string | null;
};

export const ACTION_CHARS_MAX = 120;

/** Ids that we made. What customers call their people is none of these, also where it looks like one. */
const TARGETS = new Set(
  (
    'person invitation access_request session key token import endpoint ' +
    'send profile provider automation template segment run link start topic'
  )
    .split(' ')
    .map((name) => `${name}_id`),
);
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The ids among the members of an input: never a secret, an address, or anything that somebody wrote. */
export const listTargets = (input: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(typeof input === 'object' && input !== null ? input : {}).flatMap(
      ([name, value]): [string, string][] => {
        const target = toSnakeCase(name);
        const isId = TARGETS.has(target) && typeof value === 'string' && UUID.test(value);
        return isId ? [[target, value]] : [];
      },
    ),
  );

/** The ids in a path. An address or a customer's own id in it is left out. */
export const listPathTargets = (params: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).filter(([name, value]) => name !== 'project_id' && UUID.test(value)),
  );

type Told = Omit<Audit, 'auditId' | 'targets'> & { targets?: Record<string, string> };

/** What changes through these parts from here on is in the audit log, in the same transactions. */
export const withAudit = <D extends object>(deps: D, told: Told): D & { audit: Audit } => ({
  ...deps,
  audit: { targets: {}, ...told, auditId: newId() },
});

/** A call that is tried again, as after a crash, has the entry of its first try: known by what all its tries share. */
export const asOneCall = <D extends { audit?: Audit }>(deps: D, repetitionId?: string): D =>
  deps.audit && repetitionId !== undefined
    ? { ...deps, audit: { ...deps.audit, auditId: repetitionId } }
    : deps;

/** The same, for a command of an operator. */
export const asOperator = <D extends object>(deps: D, command: string): D & { audit: Audit } =>
  withAudit(deps, {
    actor: { kind: 'operator', id: null },
    action: command,
    requestId: null,
  });

/** The same, for what the service does by itself because of what it was told. */
export const asService = <D extends object>(deps: D, action: string): D & { audit: Audit } =>
  withAudit(deps, { actor: { kind: 'service', id: null }, action, requestId: null });

/** Without the call: for what lives longer than it. */
export const withoutAudit = <D>(deps: D): D => {
  if (typeof deps !== 'object' || deps === null || !('audit' in deps)) return deps;
  const { audit: _, ...rest } = deps;
  return rest as D;
};

type Tx = Pick<DatabaseTransactionConnection, 'query'>;

/**
 * Writes the entry of a call, if this transaction changed anything: at its end, so that neither is there
 * without the other. A call of several transactions has one entry, that of the first that stays.
 */
export const noteChange = (tx: Tx, projectId: string, audit: Audit) =>
  tx.query(sql.unsafe`
    insert into admin.audit (project_id, audit_id, at, actor_kind, actor_id, action, targets, request_id)
    select ${projectId}::uuid, ${audit.auditId}::uuid, now(), ${audit.actor.kind}, ${audit.actor.id}::uuid,
      ${audit.action.slice(0, ACTION_CHARS_MAX)}, ${JSON.stringify(audit.targets)}::jsonb, ${audit.requestId}
    where pg_current_xact_id_if_assigned() is not null
    on conflict (project_id, audit_id) do nothing
  `);

/** The same for what belongs to no project. */
export const noteInstallationChange = (tx: Tx, audit: Audit) =>
  tx.query(sql.unsafe`
    insert into admin.installation_audit (audit_id, at, actor_kind, actor_id, action, targets, request_id)
    select ${audit.auditId}::uuid, now(), ${audit.actor.kind}, ${audit.actor.id}::uuid,
      ${audit.action.slice(0, ACTION_CHARS_MAX)}, ${JSON.stringify(audit.targets)}::jsonb, ${audit.requestId}
    where pg_current_xact_id_if_assigned() is not null
    on conflict (audit_id) do nothing
  `);
